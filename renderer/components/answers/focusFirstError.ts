/** Puts the focus on the first field of the open dialog that is wrong, once it is drawn as such. */
export function focusFirstError(): void {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('[role=dialog] [aria-invalid=true]')?.focus(),
  )
}
