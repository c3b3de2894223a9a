import type { GlobalShortcut } from 'electron'
import type { RunningBerth } from '#core/running.ts'

interface GlobalShortcutOptions {
  berth: Pick<RunningBerth, 'state' | 'onChange' | 'noteGlobalShortcut'>
  keys: Pick<GlobalShortcut, 'register' | 'unregister'>
  /** Whether this session lets a program have such keys. Asked once there are any. */
  isPossible: () => Promise<boolean>
  show: () => void
}

/** Keeps the keys that show Berth from any program as set, and notes whether they work; gives the function that ends this. */
export function followGlobalShortcut({ berth, keys, isPossible, show }: GlobalShortcutOptions): () => void {
  const wanted = () => berth.state().settings.shortcuts.show
  let held = ''
  let turn = Promise.resolve()

  function release(): void {
    if (held !== '') keys.unregister(held)
    held = ''
  }

  async function apply(): Promise<void> {
    const chosen = wanted()
    if (chosen === held && held !== '') return
    release()
    if (chosen === '') return berth.noteGlobalShortcut(undefined)
    if (!(await isPossible())) return berth.noteGlobalShortcut('impossible')
    const works = keys.register(chosen, show)
    if (works) held = chosen
    berth.noteGlobalShortcut(works ? 'works' : 'taken')
  }

  const follow = () => {
    // One after the other: the session may take a moment to answer.
    turn = turn.then(apply)
  }
  if (wanted() !== '') follow()
  const end = berth.onChange((after, before) => {
    if (after.settings.shortcuts.show !== before.settings.shortcuts.show) follow()
  })
  return () => {
    end()
    release()
  }
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Whether a program can have keys of the whole session: on Wayland only through the desktop's portal, whose version
 * `readPortal` gives, and rejects where there is none.
 */
export async function hasGlobalShortcuts(
  platform: NodeJS.Platform,
  env: Env,
  readPortal: () => Promise<unknown>,
): Promise<boolean> {
  const isWayland = env['XDG_SESSION_TYPE'] === 'wayland' || Boolean(env['WAYLAND_DISPLAY'])
  if (platform !== 'linux' || !isWayland) return true
  return readPortal().then(
    () => true,
    () => false,
  )
}
