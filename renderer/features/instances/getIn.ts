import { copyAndSay } from '#renderer/bridge/copyAndSave.ts'
import { dialogs } from '#renderer/bridge/dialogs.svelte.ts'
import { answerProblem, type Page } from '#renderer/bridge/page.svelte.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { OpenedAddress, TunnelView } from '#shared/instance/tunnel.ts'

/** Opens the instance's Jupyter; progress and errors are shown under its row. */
export async function openJupyter(page: Page, { id }: InstanceView): Promise<void> {
  await show(page, page.berth.openJupyter({ instance: id }), 'Jupyter')
}

/** Copies Jupyter's address with its token, for a browser that did not open or another one. */
export async function copyJupyter(page: Page, { id }: InstanceView): Promise<void> {
  const answer = await page.attempt(page.berth.openJupyter({ instance: id, open: false }))
  if (answer?.url === undefined) return
  await copyAndSay(
    page,
    answer.url,
    'Address copied, with its token.',
    'Anyone with this address can get in.',
  )
}

/** Opens a page that the instance's image names. */
export async function openApp(page: Page, { id }: InstanceView, app: string): Promise<void> {
  await show(page, page.berth.openApp({ instance: id, app }), app)
}

/** Opens what a tunnel leads to again, in the way it was opened. */
export function openTunnelPage(
  page: Page,
  instance: InstanceView,
  { kind, name, port }: TunnelView,
): Promise<void> {
  if (kind === 'jupyter') return openJupyter(page, instance)
  return kind === 'app' ? openApp(page, instance, name) : openPort(page, instance, port)
}

/** Forwards a port of the instance, and opens it in the browser where a web server answers. */
export async function openPort(page: Page, { id }: InstanceView, port: number): Promise<void> {
  await show(page, page.berth.openPort({ instance: id, port }), `Port ${port}`)
}

/**
 * Opens the chosen editor on the instance, after asking to set up the SSH config if needed. The demo explains that it
 * has none.
 */
export async function openInEditor(page: Page, { id }: InstanceView): Promise<void> {
  const { app, settings } = page.state ?? {}
  if (page.account?.demo || app?.editors.length === 0 || settings?.sshConfig === false) {
    dialogs.show({ kind: 'editor', instance: id })
    return
  }
  await page.attempt(page.berth.openEditor({ instance: id }))
}

async function show(page: Page, opening: Promise<OpenedAddress>, what: string): Promise<void> {
  let answer: OpenedAddress
  try {
    answer = await opening
  } catch (error) {
    const problem = answerProblem(error)
    // An error is shown under the row already, and a tunnel that the user closed needs no message.
    if (!quiet.has(problem.code)) page.say(problem.message, problem.advice)
    return
  }
  const { url, opened } = answer
  if (url === undefined) {
    page.say(`${what} is forwarded.`, 'It isn’t a web page. See its address in the list of ports.')
  } else if (!opened && !openApart(url)) {
    // Browsers block a window that is opened some seconds after the click.
    dialogs.show({ kind: 'address', what, url })
  }
}

const quiet = new Set([
  'tunnel_closed',
  'jupyter_missing',
  'jupyter_silent',
  'jupyter_refused',
  'port_silent',
  'app_silent',
])

/** Opens an instance's page in a tab that has no hold of this one. False where the browser blocks it. */
function openApart(url: string): boolean {
  const tab = window.open('', '_blank')
  if (!tab) return false
  tab.opener = null
  tab.location.replace(url)
  return true
}
