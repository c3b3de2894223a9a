import { letterOf, type Pressed } from '#shared/accelerators.ts'

export type PageKey =
  | 'copy'
  | 'paste'
  | 'search'
  | 'leave'
  | 'new'
  | 'split_right'
  | 'split_down'
  | 'close'
  | 'next'
  | 'previous'

/** The page's action for a key while the terminal has the focus; undefined where the key goes to the shell. */
export function pageKeyOf(event: Pressed, mac: boolean): PageKey | undefined {
  if (event.altKey) return undefined
  const ours = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && event.shiftKey && !event.metaKey
  if (ours)
    switch (letterOf(event)) {
      case 'c':
        return 'copy'
      case 'v':
        return 'paste'
      case 'f':
        return 'search'
      case 'arrowup':
        return 'leave'
      case 't':
        return 'new'
      case 'd':
        return 'split_right'
      case 'e':
        return 'split_down'
      case 'w':
        return 'close'
      case 'pagedown':
        return 'next'
      case 'pageup':
        return 'previous'
    }
  if (event.key === 'Insert' && event.ctrlKey) return 'copy'
  if (event.key === 'Insert' && event.shiftKey) return 'paste'
  return undefined
}
