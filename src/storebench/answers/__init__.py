"""Models of the answers of the page's API and of the command line, and the functions that build the answers of both."""
