import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import writeFileAtomic from 'write-file-atomic'
import project from '../package.json' with { type: 'json' }
import { at } from './places.ts'

/** A package whose code or fonts are shipped. */
export interface Shipped {
  name: string
  version: string
  /** The SPDX name. */
  licence: string
  /** The text of the licence. */
  text: string
}

const parts = ['main', 'preload', 'renderer'] as const

/** Writes down which packages a part of the build contains, for their licences. */
export function noteLicences(part: (typeof parts)[number]): Plugin {
  return {
    name: 'note-licences',
    async generateBundle() {
      const folders = new Set([...this.getModuleIds()].flatMap(id => packageFolder(id) ?? []))
      await mkdir(at('dist/made-from'), { recursive: true })
      await writeFile(at(`dist/made-from/${part}.json`), JSON.stringify([...folders].sort()))
    },
  }
}

/** The folder of a module's package, relative to the project. */
function packageFolder(id: string): string | undefined {
  return /^.*?\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(
    id.replaceAll('\\', '/'),
  )?.[1]
}

/** All packages bundled in the build or shipped unbundled, by name. */
export async function shippedPackages(): Promise<Shipped[]> {
  const built = await Promise.all(
    parts.map(
      async part => JSON.parse(await readFile(at(`dist/made-from/${part}.json`), 'utf8')) as string[],
    ),
  )
  const asTheyAre = withDependencies(Object.keys(project.dependencies))
  const all = [...new Set([...built.flat(), ...asTheyAre])].map(shipped)
  return all.toSorted((a, b) => a.name.localeCompare(b.name))
}

/** The folders of packages and of all their dependencies. */
function withDependencies(names: readonly string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    const folder = `node_modules/${name}`
    if (found.has(folder)) continue
    found.add(folder)
    withDependencies(
      Object.keys(JSON.parse(readFileSync(at(`${folder}/package.json`), 'utf8')).dependencies ?? {}),
      found,
    )
  }
  return found
}

function shipped(folder: string): Shipped {
  const {
    name,
    version,
    license,
    licenses = [],
  } = JSON.parse(readFileSync(at(`${folder}/package.json`), 'utf8'))
  const file = readdirSync(at(folder)).find(entry => /^(licen[cs]e|copying)(\.|$)/i.test(entry))
  const words = file && readFileSync(join(at(folder), file), 'utf8').trim()
  const licence = String(
    license ?? licenses[0]?.type ?? (words?.startsWith('MIT License') ? 'MIT' : 'unknown'),
  )
  return { name, version, licence, text: words ?? `Given under ${licence}, as its package says.` }
}

/** Writes the licences of all shipped packages into one file. */
export async function writeLicences(file: string): Promise<void> {
  const texts = (await shippedPackages()).map(
    ({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}\n`,
  )
  const head =
    'Berth contains these packages. Electron and Chromium have licences of their own beside this file.\n'
  // Atomic, since several may package at once.
  await writeFileAtomic(file, [head, ...texts].join(`\n${'-'.repeat(72)}\n\n`))
}
