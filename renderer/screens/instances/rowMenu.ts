import type { Action, MenuEntry } from '#renderer/components/menu/menu.ts'

/** An instance's actions as a menu: with a line above the first of each group, and the key that does the same. */
export function menuOf(actions: readonly Action[]): MenuEntry[] {
  const list: MenuEntry[] = []
  for (const { label, icon, first, key, danger, unusable, run } of actions) {
    if (first) list.push('line')
    list.push({
      label,
      run,
      icon,
      hint: key?.toUpperCase().replace('DELETE', 'Del'),
      danger: danger ?? false,
      unusable,
    })
  }
  return list
}
