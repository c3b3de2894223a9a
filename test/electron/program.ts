import '../built.ts'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { electronForTests } from '#build/electron/here.ts'
import { at } from '#build/places.ts'
import project from '../../package.json' with { type: 'json' }
import type { UserIds } from '../integration/platform/session-bus.ts'

/** The Electron in which the specs run. */
export const electron = await electronForTests()

/** The user as whom root runs Electron, whose sandbox refuses root: nobody. */
export const user: UserIds | undefined = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** The folder of the built app, and the program that starts Electron as that user. */
export const { app, program } = user ? stage(user) : { app: at('.'), program: electron.program }

/** Copies the app to a place that another user can read: often root's clones cannot be. */
function stage({ uid, gid }: UserIds): { app: string; program: string } {
  const folder = mkdtempSync(join(tmpdir(), 'berth-app-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const [app, program] = [join(folder, 'app'), join(folder, 'electron')]
  for (const path of ['package.json', 'dist', ...neededPackages()])
    cpSync(at(path), join(app, path), { recursive: true })
  const start = `setpriv --reuid ${uid} --regid ${gid} --clear-groups -- '${electron.program}'`
  writeFileSync(program, `#!/bin/sh\nexec ${start} "$@"\n`, { mode: 0o755 })
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return { app, program }
}

/** The folders of the packages that the built app loads, with those that these need. */
function neededPackages(): string[] {
  const folders = new Set<string>()
  const add = (names: object = {}) => {
    for (const name of Object.keys(names)) {
      const folder = `node_modules/${name}`
      if (folders.has(folder) || !existsSync(at(folder))) continue
      folders.add(folder)
      const needs = JSON.parse(readFileSync(at(`${folder}/package.json`), 'utf8'))
      add({ ...needs.dependencies, ...needs.optionalDependencies })
    }
  }
  add(project.dependencies)
  return [...folders]
}
