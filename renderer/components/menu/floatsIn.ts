/**
 * Where a menu is put: in the page's main part, so that screen readers tell whose it is; beside it while a dialog has
 * the page.
 */
export function floatsIn(): Element | 'body' {
  const beside = document.querySelector('[aria-modal=true]')
  return (beside ? null : document.querySelector('main > .floats')) ?? 'body'
}
