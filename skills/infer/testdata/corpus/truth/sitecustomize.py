"""Makes getopt and optparse write their definitions to $DUMP and end the script."""
import getopt
import importlib.abc
import importlib.machinery
import json
import optparse
import os
import sys
import types


class Anything:
    def __getattr__(self, name):
        return Anything()

    def __call__(self, *args, **kwargs):
        return Anything()


class Stub(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        return Anything()


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes modules of packages that are not installed. It is the last finder."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.stdlib_module_names or name == "usercustomize":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


if "DUMP" in os.environ:
    sys.meta_path.append(Stubs())


def dump(library, parameters):
    with open(os.environ["DUMP"], "w") as f:
        json.dump({"library": library, "parameters": parameters}, f)
    os._exit(0)


def read_getopt(args, shortopts, longopts=[]):
    parameters = []
    for i, c in enumerate(shortopts):
        if c in ":+-":
            continue
        value = shortopts[i + 1 : i + 2] == ":"
        parameters.append({"name": c, "flag": "-" + c, "type": "string" if value else "boolean"})
    for name in [longopts] if isinstance(longopts, str) else longopts:
        value = name.endswith("=")
        name = name.rstrip("=")
        parameters.append({"name": name, "flag": "--" + name, "type": "string" if value else "boolean"})
    dump("getopt", parameters)


getopt.getopt = getopt.gnu_getopt = read_getopt


def read_optparse(self, args=None, values=None):
    parameters = []
    options = list(self.option_list)
    for group in self.option_groups:
        options += group.option_list
    for o in options:
        if o.action in ("help", "version"):
            continue
        kinds = {"int": "integer", "long": "integer", "float": "number"}
        p = {"name": o.dest or (o._long_opts or o._short_opts)[0].lstrip("-"), "flag": (o._long_opts or o._short_opts)[0]}
        p["names"] = [n.lstrip("-") for n in o._long_opts + o._short_opts]
        if o.action in ("store_true", "store_false", "store_const", "append_const"):
            p["type"] = "boolean"
        elif o.action == "count":
            p.update(type="integer", accept=["boolean"])
        else:
            p["type"] = kinds.get(o.type, "string")
            if o.action == "append" or (o.nargs or 1) > 1:
                p["array"] = True
        if o.type == "choice":
            p["enum"] = list(o.choices)
        default = self.defaults.get(o.dest)
        if default not in (None, optparse.NO_DEFAULT):
            p["default"] = default
        if o.help and o.help != optparse.SUPPRESS_HELP:
            p["description"] = o.help.replace("%default", str(default))
        parameters.append(p)
    dump("optparse", parameters)


optparse.OptionParser.parse_args = read_optparse
