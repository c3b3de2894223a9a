import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Downloads } from '#ports/downloads.ts'
import { chosenFolder } from './chosen-folder.ts'

/** Downloads go to `~/Downloads/Berth`, or to `~/Berth` without a Downloads folder. */
export function systemDownloads(home: string): Downloads {
  const downloads = join(home, 'Downloads')
  return {
    get own() {
      return join(existsSync(downloads) ? downloads : home, 'Berth')
    },
    async at(path) {
      await mkdir(path, { recursive: true })
      return chosenFolder(path)
    },
  }
}
