import re
R=re.compile(r"""(?<=[.!?…])["'”’)\]*_`]*(?:\[\^[^\]\s]+\])*(?=\s+["'“‘(\[*_]*[A-Z0-9])|[。！？]["'”’»)\]」』）】]*""")
def sentence_ends(text):
    out=[]
    for m in R.finditer(text):
        e=m.end(); w=re.match(r"\s*",text[e:]).group()
        if "\n" in w: e+=w.rfind("\n")+1
        if 0<e<len(text): out.append(e)
    return tuple(out)
