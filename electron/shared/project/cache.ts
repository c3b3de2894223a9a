import { withoutEnd } from '../text.ts'

interface Kept {
  cache?: string | readonly string[]
  volume?: { at: string }
}

/** Folders of Berth's own in the home folder. */
const ofBerth = ['/root/berth', '/root/.berth']

/** Why the folders of `cache` can't be kept on the volume; undefined if they can. */
export function cacheProblem({ cache, volume }: Kept): string | undefined {
  if (cache === undefined || ![cache].flat().every(folder => isPlain.test(folder))) return undefined
  if (!volume) return 'needs a volume that keeps the folders'
  const at = withoutEnd(volume.at, '/')
  for (const folder of [cache].flat()) {
    // An image's user is root nearly always; the machine checks again.
    const path = folder.replace(/^~/, '/root')
    if (ofBerth.some(own => isWithin(path, own))) return `${folder} is Berth’s own`
    if (isWithin(path, at)) return `${folder} is on the volume already`
    if (isWithin(at, path)) return `${folder} has the volume in it`
  }
  return undefined
}

/** What is refused by itself needs no second word. */
const isPlain = /^(?:~|\/[^/]+)\/[^/]/

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
