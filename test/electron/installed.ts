import { chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { app, electron, user } from './program.ts'

/** Berth as a package installs it: a program of its own name, with the app among its files. */
export interface Installed {
  /** What starts it, as the user of the specs. */
  program: string
  /** Sets the content of the file with the address for updates. */
  updateFrom(config: string): Promise<void>
  remove(): Promise<void>
}

/** Makes one beside Electron's own program, whose inspector it keeps, in contrast to what is shipped. */
export async function install(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-installed-'))
  await cp(dirname(electron.program), folder, { recursive: true })
  await rm(join(folder, 'resources/default_app.asar'), { force: true })
  await cp(join(folder, 'electron'), join(folder, 'berth'))
  await rm(join(folder, 'electron'))
  for (const path of ['package.json', 'dist', 'node_modules'])
    await cp(join(app, path), join(folder, 'resources/app', path), { recursive: true })
  await chmod(folder, 0o755)
  const own = join(folder, 'berth')
  const program = user ? join(folder, 'berth-as-user') : own
  if (user) {
    const start = `setpriv --reuid ${user.uid} --regid ${user.gid} --clear-groups -- '${own}'`
    await writeFile(program, `#!/bin/sh\nexec ${start} "$@"\n`, { mode: 0o755 })
  }
  return {
    program,
    updateFrom: config => writeFile(join(folder, 'resources/app-update.yml'), config),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 20 }),
  }
}
