import warnings
warnings.simplefilter("error")
warnings.warn("buffer is too small")
