/** Milliseconds without a change. */
const pause = 150

/**
 * A value that follows once nothing has changed for a moment, so that no key waits for what takes long to draw; at once
 * where it is that of another subject.
 */
export function debounced<Value>(read: () => Value, subject: () => unknown): () => Value {
  let held: { value: Value; subject: unknown } | undefined = $state.raw()
  $effect(() => {
    const next = { value: read(), subject: subject() }
    const wait = setTimeout(() => {
      held = next
    }, pause)
    return () => clearTimeout(wait)
  })
  return () => (held && held.subject === subject() ? held.value : read())
}
