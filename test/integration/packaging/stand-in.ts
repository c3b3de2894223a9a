import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Marks the fuses in each of Electron's programs. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

/** A program with fuses as in the real one: version 1, nine fuses, set as Electron ships them. */
function program(): Buffer {
  const fuses = Buffer.concat([Buffer.from(sentinel), Buffer.from([1, 9]), Buffer.from('101100011')])
  return Buffer.concat([Buffer.from('stand-in\0'), fuses, Buffer.from('\0')])
}

/** Writes the files of Electron that electron-builder needs: the names, and a program with fuses. */
export async function writeStandIn(folder: string, version: string): Promise<void> {
  await mkdir(join(folder, 'locales'), { recursive: true })
  await writeFile(join(folder, 'electron'), program())
  await chmod(join(folder, 'electron'), 0o755)
  await writeFile(join(folder, 'version'), version)
  await writeFile(join(folder, 'LICENSE'), 'stand-in')
  await writeFile(join(folder, 'LICENSES.chromium.html'), 'stand-in')
  for (const language of ['en-US', 'de']) await writeFile(join(folder, `locales/${language}.pak`), 'stand-in')
}

/** Writes the files of Electron for macOS, with a helper app. */
export async function writeMacStandIn(folder: string, version: string): Promise<void> {
  const app = join(folder, 'Electron.app/Contents')
  const helper = join(app, 'Frameworks/Electron Helper.app/Contents')
  const framework = join(app, 'Frameworks/Electron Framework.framework')
  const current = join(framework, 'Versions/A')
  for (const [contents, name] of [
    [app, 'Electron'],
    [helper, 'Electron Helper'],
  ] as const) {
    await mkdir(join(contents, 'MacOS'), { recursive: true })
    await writeFile(join(contents, 'MacOS', name), program())
    await writeFile(join(contents, 'Info.plist'), plist({ CFBundleExecutable: name, CFBundleName: name }))
  }
  await mkdir(join(current, 'Resources/en.lproj'), { recursive: true })
  await writeFile(join(current, 'Electron Framework'), program())
  await symlink('Versions/A/Electron Framework', join(framework, 'Electron Framework'))
  await writeFile(join(current, 'Resources/en.lproj/locale.pak'), 'stand-in')
  await mkdir(join(app, 'Resources'), { recursive: true })
  await writeFile(join(app, 'Resources/electron.icns'), 'stand-in')
  for (const name of ['LICENSE', 'LICENSES.chromium.html']) await writeFile(join(folder, name), 'stand-in')
  await writeFile(join(folder, 'version'), version)
}

function plist(values: Record<string, string>): string {
  const entries = Object.entries(values).map(([key, value]) => `<key>${key}</key><string>${value}</string>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>${entries.join('')}</dict></plist>
`
}
