type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'shiftKey' | 'metaKey' | 'altKey'>

/** What a key means to the page while the terminal has the focus; undefined when it is the shell's. */
export function pageKeyOf(event: Key, mac: boolean): 'copy' | 'paste' | 'search' | 'leave' | undefined {
  if (event.altKey) return undefined
  const ours = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && event.shiftKey && !event.metaKey
  if (ours)
    switch (event.key.toLowerCase()) {
      case 'c':
        return 'copy'
      case 'v':
        return 'paste'
      case 'f':
        return 'search'
      case 'arrowup':
        return 'leave'
    }
  if (event.key === 'Insert' && event.ctrlKey) return 'copy'
  if (event.key === 'Insert' && event.shiftKey) return 'paste'
  return undefined
}
