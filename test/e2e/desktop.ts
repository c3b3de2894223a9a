import { once } from 'node:events'
import { appendFile, chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startSession, type TestSession } from '../integration/platform/session-bus.ts'

/** A notification that was shown. `title` is plain, `body` in the desktop's markup. */
export interface Shown {
  app: string
  title: string
  body: string
  urgency: string
}

/** A desktop on a virtual screen, with dunst's notifications. */
export interface Desktop {
  session: TestSession
  /** The notifications shown so far, oldest first. */
  shown(): Promise<Shown[]>
  /** Clicks the newest notification. */
  click(): Promise<void>
  /** Presses the button with that label on the newest notification. */
  press(label: string): Promise<void>
  /** Closes all notifications; returns what dunst drew, in Pango's markup, newest first. */
  drawn(): Promise<string[]>
  end(): Promise<void>
}

/** Separators of fields and of notifications. */
const [fieldEnd, recordEnd] = ['\x1f', '\x1e']

export async function startDesktop(): Promise<Desktop> {
  const session = await startSession()
  const at = (name: string) => join(session.home, name)
  const display = await startScreen(session)

  await appendFile(at('shown'), '')
  await script(
    at('hook'),
    String.raw`printf '%s\037%s\037%s\037%s\036' "$DUNST_APP_NAME" "$DUNST_SUMMARY" "$DUNST_BODY" "$DUNST_URGENCY" >> '${at('shown')}'`,
  )
  // dunst asks its menu program which action to run: this one answers with the wanted line.
  await script(at('menu'), `grep -F -m 1 "$(cat '${at('wanted')}')"`)
  await writeFile(
    at('dunstrc'),
    `[global]\n  markup = full\n  dmenu = ${at('menu')}\n  history_length = 100\n[every]\n  summary = "*"\n  timeout = 0\n  script = ${at('hook')}\n`,
  )
  session.start('env', [`DISPLAY=${display}`, 'dunst', '-conf', at('dunstrc')])
  await untilRuns(session, 'dunstctl', 'count')

  const control = async (...words: string[]) => {
    const { code, output } = await session.run('dunstctl', words)
    if (code !== 0) throw new Error(`dunstctl ${words.join(' ')}: ${output}`)
    return output
  }
  return {
    session,
    async shown() {
      const records = (await readFile(at('shown'), 'utf8')).split(recordEnd).slice(0, -1)
      return records.map(record => {
        const [app = '', title = '', body = '', urgency = ''] = record.split(fieldEnd)
        return { app, title, body, urgency }
      })
    },
    async click() {
      await control('action', '0')
    },
    async press(label) {
      await writeFile(at('wanted'), label)
      await control('context')
    },
    async drawn() {
      await control('close-all')
      const { data } = JSON.parse(await control('history')) as { data: { message: { data: string } }[][] }
      return data.flat().map(({ message }) => message.data)
    },
    end: () => session.end(),
  }
}

/** Starts a virtual X screen; returns its name, such as `:99`. */
async function startScreen(session: TestSession): Promise<string> {
  const screen = session.start('Xvfb', ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '800x600x24'])
  if (screen.stdout === null) throw new Error('Xvfb says nothing')
  const [number] = await once(createInterface({ input: screen.stdout }), 'line')
  return `:${number}`
}

async function untilRuns(session: TestSession, program: string, ...args: string[]): Promise<void> {
  const until = Date.now() + 60_000
  for (;;) {
    const { code, output } = await session.run(program, args)
    if (code === 0) return
    if (Date.now() > until) throw new Error(`${program} ${args.join(' ')}: ${output}`)
  }
}

async function script(path: string, line: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${line}\n`)
  await chmod(path, 0o755)
}
