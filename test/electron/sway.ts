import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { TestSession } from '../integration/platform/session-bus.ts'

/** Sway, a Wayland desktop, without a screen: its pictures go nowhere. */
export interface Sway {
  /** The monitors' names, from left to right. */
  monitors: readonly string[]
  /** Gives Sway a command, such as `[app_id="berth"] move container to output HEADLESS-2`. */
  tell(command: string): Promise<void>
}

/**
 * Starts Sway in a session, whose programs then find it. Each scale makes a monitor of 1600 by 1000 points. Windows
 * float, so they keep the size that they ask for.
 */
export async function startSway(session: TestSession, scales: readonly number[] = [1]): Promise<Sway> {
  const monitors = scales.map((_, index) => `HEADLESS-${index + 1}`)
  const outputs = scales.map((scale, index) => {
    const mode = `--custom ${1600 * scale}x${1000 * scale}`
    return `output ${monitors[index]} mode ${mode} scale ${scale} position ${1600 * index} 0`
  })
  const config = join(session.home, 'sway.conf')
  await writeFile(
    config,
    ['xwayland disable', ...outputs, 'for_window [app_id=".*"] floating enable, border none', ''].join('\n'),
  )
  Object.assign(session.env, {
    WLR_BACKENDS: 'headless',
    WLR_HEADLESS_OUTPUTS: String(scales.length),
    WLR_LIBINPUT_NO_DEVICES: '1',
    // Draws without a GPU.
    WLR_RENDERER: 'pixman',
    SWAYSOCK: join(session.home, 'sway'),
    WAYLAND_DISPLAY: 'wayland-1',
    XDG_SESSION_TYPE: 'wayland',
  })
  session.start('sway', ['--config', config])
  const runs = () => ['sway', 'wayland-1'].every(name => existsSync(join(session.home, name)))
  await expect.poll(runs).toBe(true)
  return {
    monitors,
    async tell(command) {
      const { code, output } = await session.run('swaymsg', [command])
      if (code !== 0) throw new Error(`Sway refused ${command}: ${output}`)
    },
  }
}
