# SPDX-License-Identifier: BSD-3-Clause
"""The source tree as the lints see it: files, their text, their text without comments."""
import os
import re
import subprocess

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blank(text):
    """Spaces in place of everything but line ends, so that line numbers stay."""
    return re.sub(r'[^\n]', ' ', text)


def without_comments(text):
    return TOKEN.sub(lambda m: blank(m[0]) if m[0][0] == '/' else m[0], text)


def without_comments_and_strings(text):
    def replace(m):
        return blank(m[0]) if m[0][0] == '/' else m[0][0] + blank(m[0][1:-1]) + m[0][-1]
    return TOKEN.sub(replace, text)


class File:
    def __init__(self, root, path):
        self.path = path
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(path)
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
            self.text = f.read()
        self.is_c = self.name.endswith(('.c', '.h'))
        self.is_header = self.name.endswith('.h')
        self._code = None

    def lines(self):
        return enumerate(self.text.splitlines(), 1)

    @property
    def code(self):
        """Without comments; strings are empty."""
        if self._code is None:
            self._code = without_comments_and_strings(self.text)
        return self._code

    def code_lines(self):
        return enumerate(self.code.splitlines(), 1)

    def includes(self):
        """(line, text with its quotes or brackets) of each include."""
        for n, line in enumerate(without_comments(self.text).splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+(["<][^">]+[">])', line)
            if m:
                yield n, m[1]

    def functions(self):
        """(first line, last line) of each function body: the braces stand alone in column 1."""
        start = None
        for n, line in self.code_lines():
            line = line.rstrip()
            if line == '{' and start is None:
                start = n
            elif line.startswith('}') and start is not None:
                yield start, n
                start = None

    def macros(self):
        """(line, whole text) of each #define, continued lines joined."""
        at, text = 0, ''
        for n, line in self.code_lines():
            if at:
                text += '\n' + line
            elif re.match(r'\s*#\s*define\b', line):
                at, text = n, line
            if at and not line.rstrip().endswith('\\'):
                yield at, text
                at, text = 0, ''


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = [File(root, p) for p in sorted(self.paths())
                      if os.path.isfile(os.path.join(root, p)) and not self.is_binary(p)]

    def paths(self):
        """What git knows or would add; without git, everything that is not hidden."""
        cmd = ['git', '-C', self.root, 'ls-files', '-z', '-c', '-o', '--exclude-standard']
        if os.path.exists(os.path.join(self.root, '.git')):
            out = subprocess.run(cmd, check=True, stdout=subprocess.PIPE).stdout.decode()
            return {p for p in out.split('\0') if p}
        found = set()
        for folder, folders, names in os.walk(self.root):
            folders[:] = [d for d in folders if not d.startswith('.')]
            found |= {os.path.relpath(os.path.join(folder, n), self.root) for n in names}
        return found

    def is_binary(self, path):
        with open(os.path.join(self.root, path), 'rb') as f:
            return b'\0' in f.read(8192)

    def c_files(self, *folders):
        return [f for f in self.files if f.is_c and f.path.startswith(folders or '')]
