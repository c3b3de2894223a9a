/**
 * The container for menus: inside the page's main landmark, so that screen readers find them there, or the body while a
 * dialog is modal.
 */
export function floatsIn(): Element | 'body' {
  const beside = document.querySelector('[aria-modal=true]')
  return (beside ? null : document.querySelector('main > .floats')) ?? 'body'
}
