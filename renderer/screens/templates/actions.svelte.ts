import { copyAndSay } from '#renderer/bridge/copyAndSave.ts'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { route } from '#renderer/bridge/route.svelte.ts'
import type { MenuEntry } from '#renderer/components/menu/menu.ts'
import { marketOf } from '#renderer/features/market/market.svelte.ts'
import { pathOf } from '#renderer/features/templates/place.ts'
import type { TemplateView } from '#shared/market/template.ts'

/** Goes to the offers with this template chosen and its machine filters set. */
export function rentFrom(page: Page, template: TemplateView): void {
  void marketOf(page).startFrom(template)
  route.go('offers')
}

/** The menu of further actions on a template. */
export function templateMenu(page: Page, template: TemplateView, onDelete: () => void): MenuEntry[] {
  const { hash, own, id, href } = template
  const foreign = own === false ? 'It belongs to someone else. Copy it to change it.' : undefined
  return [
    { label: 'Edit', unusable: foreign, run: () => route.go(`templates/${pathOf({ kind: 'edit', hash })}`) },
    { label: 'Copy as a new one', run: () => route.go(`templates/${pathOf({ kind: 'new', hash })}`) },
    {
      label: 'Copy hash',
      run: () => copyAndSay(page, hash, 'Hash copied.', hash),
    },
    ...(href && /^https?:\/\//i.test(href)
      ? [{ label: 'Open image documentation', run: () => page.attempt(page.berth.openLink({ url: href })) }]
      : []),
    'line',
    {
      label: 'Delete…',
      danger: true,
      unusable: foreign ?? (id === undefined ? 'The service doesn’t report its id.' : undefined),
      run: onDelete,
    },
  ]
}
