# Tries to change what is at the protected paths of the workspaces that are its arguments, and
# prints one line for each thing that worked.
import ctypes, os, shutil, sys
libc = ctypes.CDLL(None)
leaves = ['.git', '.git/hooks', '.git/config', '.git/commondir', '.mcp.json', '.claude', '.vscode', '.idea', '.envrc', '.github/workflows', '.skills-mcp.yaml']
places = leaves + ['.github']

def attempt(what, function):
    try:
        if function() != 'failed':
            print(what)
    except (OSError, shutil.Error):
        pass

def write(path, mode='w'):
    with open(path, mode) as file:
        file.write('evil')

def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2) != 0:
        return 'failed'

def replace(path, other):
    shutil.rmtree(other, ignore_errors=True)
    os.makedirs(other)
    os.rename(other, path)

def tree(top):
    return [os.path.join(folder, name) for folder, folders, files in os.walk(top) for name in folders + files]

for top in sys.argv[1:]:
    os.chdir(top)
    spare = top + '/spare-' + os.urandom(8).hex()
    os.makedirs(spare, exist_ok=True)
    write(spare + '/file')
    for view in [top + '/', './', '/proc/self/cwd/', '/proc/self/root' + top + '/', 'src/../']:
        for name in places:
            path, is_leaf = view + name, name in leaves
            attempt('rename ' + path, lambda: os.rename(path, spare + '/moved'))
            attempt('exchange ' + path, lambda: exchange(path, spare + '/file'))
            attempt('exchange a folder with ' + path, lambda: exchange(path, spare))
            attempt('replace ' + path, lambda: os.rename(spare + '/file', path))
            attempt('replace by a folder ' + path, lambda: replace(path, spare + '/other'))
            attempt('unlink ' + path, lambda: os.unlink(path))
            attempt('rmdir ' + path, lambda: os.rmdir(path))
            attempt('symlink ' + path, lambda: os.symlink('/tmp', path))
            attempt('link away ' + path, lambda: os.link(path, spare + '/hard'))
            attempt('link to ' + path, lambda: os.link(spare + '/file', path))
            attempt('mkfifo ' + path, lambda: os.mkfifo(path))
            attempt('mkdir ' + path, lambda: os.mkdir(path))
            if not is_leaf:
                continue
            attempt('rmtree ' + path, lambda: shutil.rmtree(path))
            attempt('makedirs ' + path, lambda: os.makedirs(path + '/deep/folder'))
            attempt('write ' + path, lambda: write(path))
            attempt('append ' + path, lambda: write(path, 'a'))
            attempt('create in ' + path, lambda: write(path + '/evil'))
            attempt('truncate ' + path, lambda: os.truncate(path, 0))
            attempt('chmod ' + path, lambda: os.chmod(path, 0o777))
            attempt('utime ' + path, lambda: os.utime(path, (1, 1)))
            attempt('setxattr ' + path, lambda: os.setxattr(path, 'user.evil', b'evil'))
            for below in tree(path):
                attempt('write ' + below, lambda: write(below))
                attempt('unlink ' + below, lambda: os.unlink(below))
                attempt('rename ' + below, lambda: os.rename(below, spare + '/moved'))
                attempt('link away ' + below, lambda: os.link(below, spare + '/hard'))
            attempt('link and follow ' + path, lambda: (os.symlink(top + '/' + name, spare + '/soft'), write(spare + '/soft/evil')))
            attempt('descriptor of ' + path, lambda: write('/proc/self/fd/%d/evil' % os.open(path, os.O_RDONLY)))
    shutil.rmtree(spare)
    write(top + '/result')
    os.makedirs(top + '/src/.vscode-like', exist_ok=True)
print('tried')
