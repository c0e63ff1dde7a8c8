from dataclasses import dataclass
@dataclass
class M: key_concepts=(); figures=(); scriptures=()
def mentions(text,facts): return M()
