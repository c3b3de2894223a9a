import { expect, test } from 'vitest'
import { followGlobalShortcut, hasGlobalShortcuts } from '#desktop/global-shortcut.ts'
import { defaultShortcuts } from '#shared/accelerators.ts'
import type { State } from '#shared/state.ts'
import { flushPromises } from '#test/berth/clocks.ts'
import { emptyState } from '#test/unit/views.ts'

/** A desktop where other programs have `taken`, and a Berth whose keys `set` changes. */
function desktop(taken: readonly string[] = [], isPossible = true) {
  const held = new Map<string, () => void>()
  const noted: State['app']['globalShortcut'][] = []
  let state = emptyState()
  let changed: (after: State, before: State) => void = () => undefined
  let shown = 0
  const end = followGlobalShortcut({
    berth: {
      state: () => state,
      onChange(listener) {
        changed = listener
        return () => undefined
      },
      noteGlobalShortcut: note => void noted.push(note),
    },
    keys: {
      register: (keys, pressed) => !taken.includes(keys) && held.set(keys, pressed) === held,
      unregister: keys => void held.delete(keys),
    },
    isPossible: async () => isPossible,
    show() {
      shown += 1
    },
  })
  return {
    async set(show: string) {
      const before = state
      state = { ...state, settings: { ...state.settings, shortcuts: { ...defaultShortcuts, show } } }
      changed(state, before)
      await flushPromises()
    },
    held,
    noted,
    shown: () => shown,
    end,
  }
}

test('the keys show Berth until others are chosen, or none', async () => {
  const { set, held, noted, shown, end } = desktop(['F9'])
  await set('Alt+B')
  held.get('Alt+B')?.()
  expect(shown()).toBe(1)
  await set('F9')
  expect([...held]).toEqual([])
  await set('F8')
  expect([...held.keys()]).toEqual(['F8'])
  await set('')
  expect([...held]).toEqual([])
  expect(noted).toEqual(['works', 'taken', 'works', undefined])
  await set('F7')
  end()
  expect([...held]).toEqual([])
})

test('a session that allows none says so', async () => {
  const { set, held, noted } = desktop([], false)
  await set('Alt+B')
  expect(noted).toEqual(['impossible'])
  expect([...held]).toEqual([])
  const none = () => Promise.reject(new Error('no portal'))
  const wayland = { XDG_SESSION_TYPE: 'wayland' }
  expect(await hasGlobalShortcuts('linux', wayland, none)).toBe(false)
  expect(await hasGlobalShortcuts('linux', wayland, async () => [1])).toBe(true)
  expect(await hasGlobalShortcuts('linux', { XDG_SESSION_TYPE: 'x11' }, none)).toBe(true)
  expect(await hasGlobalShortcuts('darwin', {}, none)).toBe(true)
})
