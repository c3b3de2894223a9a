import { told } from './told.ts'

/** What of Electron cannot be used before it is ready throws these words. */
export function needsReady(words: string): void {
  if (!told.ready) throw new Error(words)
}
