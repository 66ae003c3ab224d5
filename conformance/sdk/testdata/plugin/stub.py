"""Compares the functions and classes of the module wharf with those of its stub: their names, and the parameters of both."""

import ast
import inspect
import sys

import wharf


# One of each class, whose attributes are those that the stub declares.
MADE = [wharf.WharfError("state.get", "denied", "policy_violation", "no"), wharf.Failure("no_tea"), wharf.Response({"status": 200}),
        wharf.Task({"task": {"id": "task_1", "input": "hi"}, "persona": {}, "session_id": "sess_1"})]


def public(names):
    return {name for name in names if not name.startswith("_")}


def parameters(f):
    """The parameters of a function of the stub that are not given by name alone."""
    return [a.arg for a in f.args.posonlyargs + f.args.args]


def compare(where, module, f):
    got = inspect.signature(module).parameters.values()
    positional = [p.name for p in got if p.kind == p.POSITIONAL_OR_KEYWORD]
    if positional != parameters(f):
        yield f"{where} takes {positional}, and {parameters(f)} in the stub"
    named = {a.arg for a in f.args.kwonlyargs}
    rest = any(p.kind == p.VAR_KEYWORD for p in got)
    if bool(named or f.args.kwarg) != rest:
        yield f"{where} takes {'any' if rest else 'no'} names, and {sorted(named) or 'none'} in the stub"


def differences(stub):
    functions = {n.name: n for n in stub.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in stub.body if isinstance(n, ast.ClassDef)}
    known = public(functions) | public(classes)
    made = public(n for n, v in vars(wharf).items() if inspect.isfunction(v) or inspect.isclass(v))
    if known != made:
        yield f"only one of module and stub has {sorted(known ^ made)}"
    for name in public(functions) & made:
        yield from compare(name, getattr(wharf, name), functions[name])
    for name in public(classes) & made:
        for method in classes[name].body:
            if isinstance(method, ast.FunctionDef) and method.name != "__getattr__" and not method.decorator_list:
                yield from compare(f"{name}.{method.name}", getattr(getattr(wharf, name), method.name), method)


def attributes(stub):
    for made in MADE:
        name = type(made).__name__
        body = next(n.body for n in stub.body if isinstance(n, ast.ClassDef) and n.name == name)
        declared = {n.target.id for n in body if isinstance(n, ast.AnnAssign)}
        has = {a for a in vars(made) if not a.startswith("_")}
        if declared != has:
            yield f"a {name} has {sorted(has)}, and {sorted(declared)} in the stub"


with open(sys.argv[1]) as file:
    parsed = ast.parse(file.read())
found = [*differences(parsed), *attributes(parsed)]
print("\n".join(found))
sys.exit(bool(found))
