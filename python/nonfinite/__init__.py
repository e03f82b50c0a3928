"""Is it NaN, is it infinite, is it finite? Exact answers for arrays, tensors and files."""
