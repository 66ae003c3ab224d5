# Annotations are not looked at here anyway.
annotations = None
