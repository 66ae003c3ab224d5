module guest

go 1.26.0
