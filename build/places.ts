import { fileURLToPath } from 'node:url'

/** The absolute path of a file or folder of the project. */
export function at(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url))
}
