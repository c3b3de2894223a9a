/** Focuses the first invalid field of the open dialog, once it is drawn as invalid. */
export function focusFirstError(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('[role=dialog] [aria-invalid=true]')?.focus(),
  )
}
