import { release } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/**
 * One line with the versions of Electron and its parts, of Node and of the system, and whether pages run without
 * Chromium's sandbox.
 */
export function describeRuntime(isSandboxed = true): string {
  const { electron, chrome, node } = process.versions
  const shell = electron === undefined ? '' : `Electron ${electron}, Chromium ${chrome}, `
  return `${shell}Node ${node}; ${process.platform} ${release()} ${process.arch}${isSandboxed ? '' : '; no sandbox'}`
}

/** Keeps V8's young generation at 1 or 2 MB. A start would grow it to 32 MB, kept for days of idling. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}
