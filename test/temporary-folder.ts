import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Text files by their path in a folder. */
type TextFiles = Readonly<Record<string, string>>

/** A temporary folder with these files, removed after the test. */
export function temporaryFolder(files: TextFiles = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'berth-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  writeInto(folder, files)
  return folder
}

export function writeInto(folder: string, files: TextFiles): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
