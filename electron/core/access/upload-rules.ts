import type { LocalEntry } from '#platform/folders.ts'
import type { UploadRules } from '#shared/instance/upload-plan.ts'
import { type ReadFolder, readTree } from '#ssh/sync/scan.ts'

/** The files that ignore rules exclude from a folder of this name. Throws as `readTree` does. */
export async function rulesIn(name: string, folder: ReadFolder): Promise<UploadRules> {
  const { ignored, linkedRules } = await readTree(folder, { secrets: false })
  return {
    ignored: ignored.map(path => `${name}/${path}`),
    linkedRules: linkedRules.map(path => (path.startsWith('/') ? path : `${name}/${path}`)),
  }
}

/** The same for all folders of a page, of which only the paths of the files and the texts of the ignore files are known. */
export async function rulesInPage(
  { paths, texts }: { paths: readonly string[]; texts: Readonly<Record<string, string>> },
  ignoreCase: boolean,
): Promise<UploadRules> {
  const entries = new Map<string, Map<string, LocalEntry['kind']>>()
  for (const path of paths) {
    const names = path.split('/')
    for (const [at, name] of names.entries()) {
      const folder = names.slice(0, at).join('/')
      const inside = entries.get(folder) ?? new Map<string, LocalEntry['kind']>()
      inside.set(name, at + 1 < names.length ? 'folder' : 'file')
      entries.set(folder, inside)
    }
  }
  const tops = [...(entries.get('') ?? [])].filter(([, kind]) => kind === 'folder')
  const rules = await Promise.all(tops.map(([top]) => rulesIn(top, pageFolder(top))))

  function pageFolder(top: string): ReadFolder {
    const at = (path: string) => (path === '' ? top : `${top}/${path}`)
    return {
      async list(folder) {
        return [...(entries.get(at(folder)) ?? [])].map(([name, kind]) => ({ ...unknown, name, kind }))
      },
      async read(path) {
        const text = texts[at(path)]
        return text === undefined ? undefined : { ...unknown, bytes: Buffer.from(text) }
      },
      async rules(folder) {
        const text = texts[`${at(folder)}/.git/info/exclude`]
        return { ignoreCase, outside: text === undefined ? [] : [{ within: '', text }], linked: [] }
      },
    }
  }
  return {
    ignored: rules.flatMap(({ ignored }) => ignored),
    linkedRules: rules.flatMap(({ linkedRules }) => linkedRules),
  }
}

const unknown = { size: 0, modified: 0, executable: false }
