"""Finding good block sizes: the candidates, their times, where they are kept, what comes of it."""
