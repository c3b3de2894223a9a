import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const rpm = process.env['BERTH_RPM']
const deb = process.env['BERTH_DEBS']?.split(':')[1]

/** What the rpm says of itself, by a format of rpm's. */
function asked(format: string): string {
  return execFileSync('rpm', ['--query', '--package', '--queryformat', format, String(rpm)], {
    encoding: 'utf8',
  })
}

test.runIf(rpm)('an rpm requires what Electron does, and an upgrade keeps its link', () => {
  expect(asked('%{NAME} %{ARCH} %{LICENSE}')).toMatch(/^berth (x86_64|aarch64) MIT$/)
  const requires = asked('[%{REQUIRENAME}\n]').split('\n')
  for (const name of ['gtk3', 'nss', '(libXtst or libXtst6)']) expect(requires).toContain(name)
  expect(
    requires.filter(name => name.includes('.so')),
    'what rpm found by itself',
  ).toEqual([])
  expect(asked('%{POSTIN}')).toContain("update-alternatives --install '/usr/bin/berth'")
  expect(asked('%{POSTUN}')).toMatch(/^\[ "\$1" = 0 \] \|\| exit 0\n/)
})

test.runIf(rpm && deb)('deb and rpm install the same files', () => {
  const listed = (list: string) =>
    list
      .split('\n')
      .filter(path => path.startsWith('/opt/Berth/') || /\.(png|desktop)$/.test(path))
      .sort()
  const debian = execFileSync('sh', ['-c', 'dpkg-deb --fsys-tarfile "$0" | tar -t', String(deb)], {
    encoding: 'utf8',
  })
  const files = listed(debian.replaceAll(/^\./gm, '').replaceAll(/\/$/gm, ''))
  expect(listed(asked('[%{FILENAMES}\n]'))).toEqual(files)
  expect(files).toContain('/opt/Berth/berth')
})
