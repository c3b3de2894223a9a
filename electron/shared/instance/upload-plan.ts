import { likelySecret } from './secrets.ts'
import type { LikelySecret, UploadPart, UploadPlan } from './sync.ts'

/** A file below a chosen one, by the names from there down to it. */
export interface PlannedFile {
  path: readonly string[]
  /** Where a link leads to: the names down to that file. */
  target?: readonly string[]
  /** Bytes. */
  size: number
}

/** Paths that ignore files exclude from chosen folders: paths with `/` between names; one of a folder ends with it. */
export interface UploadRules {
  ignored: readonly string[]
  /** Ignore files that are links. */
  linkedRules: readonly string[]
}

/** The user's additions to the upload: secrets by their paths, and files excluded by ignore rules. */
export interface UploadChoice {
  confirmed: readonly string[]
  whole: boolean
}

/** The files that were found, and which of them a choice leaves. */
export interface Planned<File> {
  plan: UploadPlan
  filesOf(choice: UploadChoice): File[]
  /** Whether a folder is made; it is given by its names. */
  hasFolder(path: readonly string[], choice: UploadChoice): boolean
}

/**
 * Sorts the files that were found in chosen folders. `read` gives a file's bytes, undefined where it can't be read. A
 * file that the user chose alone is sent, whatever it holds.
 */
export async function planUpload<File extends PlannedFile>(
  files: readonly File[],
  { ignored, linkedRules }: UploadRules,
  read: (file: File) => Promise<string | undefined>,
): Promise<Planned<File>> {
  const rules = new Set(ignored)
  const part = () => ({ files: 0, bytes: 0, secrets: [] as LikelySecret[] }) satisfies UploadPart
  const plan = { ...part(), ignored: part(), linkedRules }
  const sorted: { file: File; isIgnored: boolean; secret: string | undefined }[] = []
  for (const file of files) {
    const { path, target, size } = file
    const isIgnored = isLeftOut(rules, path) || (target !== undefined && isLeftOut(rules, target))
    const secret = path.length < 2 ? undefined : await secretOf(file)
    sorted.push({ file, isIgnored, secret: secret?.path })
    const into = isIgnored ? plan.ignored : plan
    if (secret) into.secrets.push(secret)
    else {
      into.files += 1
      into.bytes += size
    }
  }

  async function secretOf(file: File): Promise<LikelySecret | undefined> {
    const { path, target, size } = file
    const secret = await likelySecret(path, size, () => read(file))
    if (secret || !target) return secret
    return (await likelySecret(target, size, async () => undefined)) && { path: path.join('/') }
  }

  return {
    plan,
    filesOf: ({ confirmed, whole }) => {
      const chosen = new Set(confirmed)
      return sorted
        .filter(({ isIgnored, secret }) => (whole || !isIgnored) && (!secret || chosen.has(secret)))
        .map(({ file }) => file)
    },
    hasFolder: (path, { whole }) => whole || !isLeftOut(rules, [...path, '']),
  }
}

/** Whether rules leave out a file, or a folder around it. */
function isLeftOut(rules: ReadonlySet<string>, path: readonly string[]): boolean {
  return path.some((_, at) => rules.has(path.slice(0, at + 1).join('/') + (at + 1 < path.length ? '/' : '')))
}
