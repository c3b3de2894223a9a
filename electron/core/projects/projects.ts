import { createHash } from 'node:crypto'
import { basename, join, relative, sep } from 'node:path'
import * as v from 'valibot'
import type { Platform } from '#platform/platform.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError } from '#shared/problem.ts'
import type { Borrowed, Use } from '#shared/project/borrowed.ts'
import { ProjectId, type ProjectView, specProblemWords } from '#shared/project/project.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { problemOf } from '../bridge/problems.ts'
import { type DocumentPlace, openDocument } from '../storage/json-file.ts'
import type { Store } from '../storage/store.ts'

/** A project's file as text and parsed. */
export interface AgreedSpec {
  text: string
  /** SHA-256 of the text in hexadecimal, which the user agrees to. */
  content: string
  spec: ProjectSpec
}

/** A use of something that an account has; of a secret, which all have, without an account. */
export interface OwnUse {
  use: Use
  account?: string
}

const storedUse = ({ use, account }: OwnUse) => (account === undefined ? use : `${account} ${use}`)

export type Projects = Awaited<ReturnType<typeof openProjects>>

const Stored = v.array(
  v.object({
    id: ProjectId,
    path: v.string(),
    agreed: v.optional(v.array(v.string()), []),
    /** What it may use of the user's; of what an account has, after the account's id and a space. */
    allowed: v.optional(v.array(v.string()), []),
  }),
)
type Stored = v.InferOutput<typeof Stored>

const specName = 'berth.yaml'
/** In the user's home folder. */
const exampleFolder = 'berth-example'
/** A project that needs any small GPU for a minute, and what it runs. */
const exampleFiles = {
  [specName]: `# "Run…" rents such a machine, sends this folder, runs the command, downloads the results
# into this folder, and destroys the machine.
machine:
  vram: 8                # GB, at least
  price: 0.20            # dollars per hour, at most
run: python3 train.py
results: out             # downloaded at the end
stop: { hours: 0.5, dollars: 0.20 }
`,
  'train.py': `# Learns the slope of a line: a stand-in for a training script of yours.
import json
import os

slope = 0.0
for step in range(1, 41):
    slope += 0.1 * (3.0 - slope)
    print(f"step {step} loss {(3.0 - slope) ** 2:.6f}", flush=True)

os.makedirs("out", exist_ok=True)
with open("out/result.json", "w") as file:
    json.dump({"slope": slope}, file)
`,
}
/** The longest `berth.yaml`, in bytes: of a nasty one, this much takes the parser about a second. */
const longestSpec = 32 * 1024
/** The number of agreed contents that are remembered per project. */
const mostAgreed = 20

/** Folders of this computer that can be run on rented machines, shared by all accounts. */
export async function openProjects(store: Store, platform: Platform, onBroken: DocumentPlace['onBroken']) {
  const { files, random, syncedFolders, home } = platform
  const document = await openDocument({ files, platform, onBroken }, 'projects', Stored, [])
  const get = (id: string) => {
    const found = document.get().find(project => project.id === id)
    if (!found) throw new BerthError(noSuchProject)
    return found
  }
  const folder = (id: string) => syncedFolders.at(get(id).path)

  const nameOf = ({ id, path }: Stored[number]) => store.get().projects[id]?.name ?? harmless(basename(path))

  async function read(id: string): Promise<AgreedSpec> {
    const found = await folder(id).read(specName, longestSpec)
    if (!found) {
      // Listing throws `no_such_folder` where the folder itself is missing.
      const there = (await folder(id).list('')).some(({ name }) => name === specName)
      throw new BerthError(there ? unreadable : noSpec)
    }
    const text = found.bytes.toString('utf8')
    const { readSpec } = await import('./read-spec.ts')
    const result = readSpec(text)
    if ('problems' in result) {
      throw new BerthError({
        code: 'bad_spec',
        message: ['berth.yaml has errors:', ...result.problems.map(specProblemWords)].join('\n'),
        advice: 'Fix them, then run it again.',
      })
    }
    return agreementOf(text, result.spec)
  }

  async function viewOf({ id, path }: Stored[number]): Promise<ProjectView> {
    const shown = { id, name: harmless(basename(path)), folder: forPeople(path, home), problems: [] }
    try {
      const found = await folder(id).read(specName, longestSpec)
      if (!found) {
        await folder(id).list('')
        return shown
      }
      const { readSpec } = await import('./read-spec.ts')
      const text = found.bytes.toString('utf8')
      const result = readSpec(text)
      if ('problems' in result) return { ...shown, problems: result.problems }
      const { spec, content } = agreementOf(text, result.spec)
      return { ...shown, name: spec.name ?? shown.name, spec, content }
    } catch (error) {
      return { ...shown, problem: problemOf(error) }
    }
  }

  async function show(id: string): Promise<void> {
    const kept = document.get().find(project => project.id === id)
    const view = kept && (await viewOf(kept))
    store.change(draft => {
      if (view) draft.projects[id] = view
      else delete draft.projects[id]
    })
  }

  async function add(path: string): Promise<string> {
    const known = document.get().find(project => project.path === path)
    const id = known?.id ?? `p${random.hex(16)}`
    if (!known) await document.write(projects => [...projects, { id, path, agreed: [], allowed: [] }])
    await show(id)
    return id
  }

  await Promise.all(document.get().map(({ id }) => show(id)))
  return {
    /** Returns the folder's project id, an existing one where there is one. */
    add,
    /** The same for an example, whose files are created where they are missing. */
    async addExample(): Promise<string> {
      await syncedFolders.at(home).makeFolder(exampleFolder)
      const path = join(home, exampleFolder)
      for (const [name, text] of Object.entries(exampleFiles)) await syncedFolders.at(path).create(name, text)
      return add(path)
    },
    /** Throws `no_such_project`. */
    folder,
    name: (id: string): string => nameOf(get(id)),
    /** Parses its file. Throws `no_such_project`, `no_such_folder`, `no_spec` or `bad_spec`. */
    read,
    /**
     * Creates its file, or changes the values of the one with the content `replaces`. Throws `bad_spec` where it gets too
     * long, `spec_exists` where one is in the way, `spec_changed` where it has other content by now, and `spec_fixed`.
     */
    async write(id: string, spec: ProjectSpec, replaces?: string): Promise<void> {
      const { editedText, specText } = await import('./write-spec.ts')
      const current = replaces === undefined ? undefined : await read(id)
      if (current && current.content !== replaces) throw new BerthError(specChanged)
      const text = current ? editedText(current.text, spec) : specText(spec)
      if (Buffer.byteLength(text) > longestSpec) throw new BerthError(unreadable)
      const written = await (current ? folder(id).replace(specName, text) : folder(id).create(specName, text))
      if (!written) throw new BerthError(specExists)
      await show(id)
    },
    /** Reads its file again and updates State. */
    async refresh(id: string): Promise<void> {
      get(id)
      await show(id)
    },
    async remove(id: string): Promise<void> {
      get(id)
      await document.write(projects => projects.filter(project => project.id !== id))
      await show(id)
    },
    /** Whether the user agreed to this content before. */
    isKnown: (id: string, content: string): boolean => get(id).agreed.includes(content),
    /** Those of these uses that the project was not allowed, with the names of projects that were. */
    borrowed: (id: string, uses: readonly OwnUse[]): Borrowed[] =>
      uses
        .filter(use => !get(id).allowed.includes(storedUse(use)))
        .map(own => ({
          use: own.use,
          of: document
            .get()
            .filter(({ allowed }) => allowed.includes(storedUse(own)))
            .map(other => nameOf(other)),
        })),
    isAllowed: (id: string, use: OwnUse): boolean =>
      document
        .get()
        .find(project => project.id === id)
        ?.allowed.includes(storedUse(use)) ?? false,
    async allow(id: string, uses: readonly OwnUse[]): Promise<void> {
      await document.write(projects =>
        projects.map(project =>
          project.id === id
            ? { ...project, allowed: [...new Set([...project.allowed, ...uses.map(storedUse)])] }
            : project,
        ),
      )
    },
    async agree(id: string, content: string): Promise<void> {
      await document.write(projects =>
        projects.map(project =>
          project.id === id
            ? {
                ...project,
                agreed: [...project.agreed.filter(other => other !== content), content].slice(-mostAgreed),
              }
            : project,
        ),
      )
    },
  }
}

export function agreementOf(text: string, spec: ProjectSpec): AgreedSpec {
  return { text, content: createHash('sha256').update(text).digest('hex'), spec }
}

function forPeople(path: string, home: string): string {
  const below = relative(home, path)
  return below !== '' && !below.startsWith('..') && below !== path ? `~${sep}${below}` : path
}

const noSuchProject = { code: 'no_such_project', message: 'That project is no longer on the list.' }
const noSpec = {
  code: 'no_spec',
  message: 'The folder has no berth.yaml.',
  advice: 'Create one. One line is enough, such as run: python train.py',
}
const specExists = {
  code: 'spec_exists',
  message: 'The folder already has a berth.yaml.',
  advice: 'Berth won’t overwrite it. Close this form and run the project as it is.',
}
export const specChanged = {
  code: 'spec_changed',
  message: 'berth.yaml has changed since you looked at it.',
  advice: 'Read it again, then continue.',
}
const unreadable = {
  code: 'bad_spec',
  message: 'berth.yaml can’t be read, or is longer than 32 KB.',
}
