import type { TemplateView } from '#shared/market/template.ts'

export type TemplateOwner = 'all' | 'own' | 'public'
export const templateColumns = ['name', 'image', 'disk', 'used', 'created'] as const
export type TemplateColumn = (typeof templateColumns)[number]
export interface TemplateSort {
  column: TemplateColumn
  descending: boolean
}

/** The user's own templates, or those of others, where templates without an author belong, too. */
export function whoseOnly(templates: readonly TemplateView[], whose: TemplateOwner): TemplateView[] {
  return templates.filter(({ own }) => whose === 'all' || (own === true) === (whose === 'own'))
}

/** The templates that contain every word in name, image, tag or description. */
export function withText(templates: readonly TemplateView[], typed: string): TemplateView[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return templates.filter(({ name, image = '', tag = '', description = '', hash, id }) => {
    const text = `${name} ${imageName({ image, tag })} ${description} ${hash} ${id ?? ''}`.toLowerCase()
    return words.every(word => text.includes(word))
  })
}

const values: Record<TemplateColumn, (template: TemplateView) => string | number | undefined> = {
  name: ({ name }) => name,
  image: template => imageName(template),
  disk: ({ disk }) => disk,
  used: ({ used }) => used,
  created: ({ createdAt }) => createdAt,
}

/** Sorts templates; unknown values come last in both directions. */
export function sorted(
  templates: readonly TemplateView[],
  { column, descending }: TemplateSort,
): TemplateView[] {
  const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
  const value = values[column]
  return [...templates].sort((a, b) => {
    const [left, right] = [value(a), value(b)]
    if (left === undefined || right === undefined)
      return Number(left === undefined) - Number(right === undefined)
    const order =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : collator.compare(String(left), String(right))
    return (descending ? -order : order) || collator.compare(a.name, b.name)
  })
}

/** The order after a click on a column: a second click reverses it; texts begin with A, figures with the largest. */
export function templateSortAfterClick(now: TemplateSort, column: TemplateColumn): TemplateSort {
  if (now.column === column) return { column, descending: !now.descending }
  return { column, descending: column !== 'name' && column !== 'image' }
}

/** The image and its tag. */
export function imageName({ image = '', tag = '' }: Pick<TemplateView, 'image' | 'tag'>): string {
  return tag === '' || image === '' || image.lastIndexOf(':') > image.lastIndexOf('/') || image.includes('@')
    ? image
    : `${image}:${tag}`
}
