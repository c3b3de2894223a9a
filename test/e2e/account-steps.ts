import type { BrowserContextOptions, Locator, Page, WebSocket } from 'playwright-core'
import type { MainMessage } from '#contract/messages.ts'
import type { SimulatorOptions } from '#simulator/simulator.ts'
import type { Service } from '../berth/browser.ts'
import type { BerthStart, Start } from '../berth/start.ts'
import { joinBerth } from '../page-client.ts'

/** Connects the simulator's account through the page's form: the first run's, which asks for no name, or the dialog. */
export async function connectAccount(
  page: Page,
  service: Pick<Service, 'baseUrl' | 'apiKey'>,
  name = '',
): Promise<void> {
  const form = await connectForm(page)
  await form.getByLabel('Base URL').fill(service.baseUrl)
  await form.getByLabel('API key').fill(service.apiKey)
  if (name !== '') await form.getByLabel('Name (optional)').fill(name)
  await form.getByRole('button', { name: /^Connect/ }).click()
  await form.waitFor({ state: 'detached' })
}

/** The form that connects an account, opened first where it is hidden. */
export async function connectForm(page: Page): Promise<Locator> {
  const form = page.getByRole('form', { name: 'Connect your account' })
  const button = page.getByRole('button', { name: 'Connect your account' }).first()
  await form.or(button).first().waitFor()
  if (!(await form.isVisible())) await button.click()
  return form
}

/** Rents the cheapest offer without Berth and advances an hour; returns the instance's id, throws unless it runs. */
export async function rentRunning(sim: Service, body: Record<string, unknown> = {}): Promise<number> {
  const { offers } = await sim.api<{ offers: { id: number }[] }>('POST', '/api/v0/bundles/', {
    order: [['dph_total', 'asc']],
    limit: 1,
    ...(body['price'] === undefined ? {} : { type: 'bid' }),
  })
  const rented = await sim.api<{ new_contract: number }>('PUT', `/api/v0/asks/${offers[0]?.id}/`, {
    image: 'ubuntu',
    disk: 10,
    ...body,
  })
  const id = rented.new_contract
  await sim.control('POST', '/sim/clock', { advance: 3600 })
  const { instances } = await sim.api<{ instances: { actual_status: string } }>(
    'GET',
    `/api/v0/instances/${id}/`,
  )
  if (instances.actual_status !== 'running') throw new Error(`it is ${instances.actual_status} after an hour`)
  return id
}

interface Opening<Instances> {
  simulator?: SimulatorOptions
  berth?: BerthStart
  page?: BrowserContextOptions
  /** The requests of the instances that run already. */
  instances?: Instances
}

/** Opens a page on Berth, and connects a simulator's account; gives the ids of its instances. */
export async function openConnected<const Instances extends readonly Record<string, unknown>[] = []>(
  start: Start,
  opening: Opening<Instances> = {},
) {
  const [sim, berth] = await Promise.all([start.simulator(opening.simulator), start.berth(opening.berth)])
  const ids: number[] = []
  for (const body of opening.instances ?? []) ids.push(await rentRunning(sim, body))
  const { page, errors } = await start.page(berth.address, opening.page)
  await connectAccount(page, sim)
  return { sim, berth, page, errors, ids: ids as { [At in keyof Instances]: number } }
}

/** Rents one such GPU with Jupyter on the page; returns its row once it runs. */
export async function rentWithJupyter(page: Page, gpu: string): Promise<Locator> {
  await page.getByRole('link', { name: 'Offers' }).click()
  await page.getByRole('searchbox', { name: 'Find in offers' }).fill(gpu)
  await page
    .getByRole('button', { name: new RegExp(`^Rent 1 × ${gpu}`) })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Image', { exact: true }).fill('pytorch/pytorch:latest')
  await dialog.getByText('Jupyter', { exact: true }).click()
  await dialog.getByRole('button', { name: /^Rent/ }).click()
  const row = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: new RegExp(gpu) })
  await row.getByText('Running', { exact: true }).waitFor({ timeout: 150_000 })
  return row
}

/** Lifts what Offers begins with: all offers are shown, of verified and reliable hosts or not. */
export async function showAllOffers(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Reliability: 98/ }).click()
  await page.getByRole('button', { name: /^Any reliab/ }).click()
  await page.getByLabel('Verified: only').click()
  await page.getByRole('option', { name: 'any' }).click()
  await page.getByLabel('Verified: any').waitFor()
}

/** Returns a function that lets Berth poll now, by its own connection, and waits until the poll was handled. */
export async function openPolling(start: Start, address: string): Promise<() => Promise<void>> {
  const socket = await joinBerth(address)
  start.atEnd(() => socket.terminate())
  let call = 0
  return () => {
    const mine = ++call
    return new Promise(resolve => {
      socket.on('message', function hear(data) {
        const message: MainMessage = JSON.parse(String(data))
        if (!('call' in message) || message.call !== mine) return
        socket.off('message', hear)
        resolve()
      })
      socket.send(JSON.stringify({ kind: 'command', call: mine, name: 'refresh', args: {} }))
    })
  }
}

/**
 * Records what the page's sockets receive; returns it as one text, with bytes as Latin-1. Call it before the page opens
 * Berth.
 */
export function recordFrames(page: Page): () => string {
  const parts: string[] = []
  page.on('websocket', (socket: WebSocket) => {
    socket.on('framereceived', ({ payload }) =>
      parts.push(typeof payload === 'string' ? payload : payload.toString('latin1')),
    )
  })
  return () => parts.join('\n')
}
