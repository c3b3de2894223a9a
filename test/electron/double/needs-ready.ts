import { told } from './told.ts'

/** Throws Electron's message for an API that cannot be used before ready. */
export function needsReady(words: string): void {
  if (!told.ready) throw new Error(words)
}
