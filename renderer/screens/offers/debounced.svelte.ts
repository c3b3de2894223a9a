/** Milliseconds without a change. */
const pause = 150

/**
 * A value that is updated once it has not changed for a moment, so that slow drawing does not delay typing; at once
 * where its subject is another.
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
