import type { Context, Hono } from 'hono'
import type { Controls } from '../controls.ts'
import { invalidArgs, noSuchInstance, refusal } from '../errors.ts'
import { Fields, isObject } from '../fields.ts'
import type { Bindings } from './bindings.ts'
import type { FaultInput } from './fault-rules.ts'

/**
 * The control plane for tests, outside /api/. JSON only; a request from a page in a browser (an `Origin`, or
 * a `Host` that is not this server on loopback) is refused.
 */
export function serveControlPlane(app: Hono<Bindings>, controls: Controls): void {
  app.use('/sim/*', async (context, next) => {
    refuseStrangers(context)
    await next()
  })
  app.post('/sim/clock', async context => {
    const body = await readBody(context)
    return context.json(await controls.advance(body.number('advance')))
  })
  app.get('/sim/outbox', context => context.json({ messages: controls.outbox() }))
  app.post('/sim/instances/:id', async context => {
    const id = context.req.param('id')
    const body = await readBody(context)
    if (!/^\d{1,15}$/.test(id)) throw noSuchInstance(Number(id))
    const diskUsage = body.optionalNumber('disk_usage')
    const endDate = body.optionalNumber('end_date')
    const host = body.optionalString('ssh_host')
    const port = body.optionalInteger('ssh_port')
    const forced = body.has('actual_status')
    if (!forced && diskUsage === undefined && endDate === undefined && port === undefined) {
      throw body.refuse('actual_status, disk_usage, end_date or ssh_port is needed.')
    }
    const status = !forced || body.values['actual_status'] === null ? null : body.string('actual_status')
    if (forced) await controls.forceStatus(Number(id), status)
    controls.setInstance(Number(id), {
      ...(diskUsage === undefined ? {} : { diskUsage }),
      ...(endDate === undefined ? {} : { endDate }),
      ...(port === undefined ? {} : { ssh: { host: host ?? '127.0.0.1', port } }),
    })
    return context.json({ success: true })
  })
  app.post('/sim/account', async context => {
    const body = await readBody(context)
    return context.json({ success: true, account: controls.setAccount(body.values) })
  })
  app.post('/sim/tfa-secret', context => context.json({ tfa_secret: controls.issueTfaSecret() }))
  app.get('/sim/ledger', context => context.json({ ...controls.ledger() }))
  app.post('/sim/outbid', async context => {
    const body = await readBody(context)
    await controls.outbid(body.integer('instance_id'))
    return context.json({ success: true })
  })
  app.post('/sim/price-increase', async context => {
    const body = await readBody(context)
    const id = controls.askPriceIncrease(body.integer('instance_id'), body.number('factor'))
    return context.json({ success: true, pending_price_increase_id: id })
  })
  app.post('/sim/credit', async context => {
    const body = await readBody(context)
    controls.setCredit(body.number('credit'))
    return context.json({ success: true })
  })
  app.post('/sim/top-up', async context => {
    const body = await readBody(context)
    controls.topUp(body.number('amount'))
    return context.json({ success: true })
  })
  app.post('/sim/deployment', async context => {
    const body = await readBody(context)
    return context.json({ success: true, deployment: controls.setDeployment(body.values) })
  })
  app.post('/sim/faults', async context => {
    const body = await readBody(context)
    controls.setFaults(body.array('rules') as FaultInput[])
    return context.json({ success: true })
  })
  app.get('/sim/requests', context => context.json({ requests: controls.requests() }))
}

function refuseStrangers(context: Context<Bindings>): void {
  const port = context.env.incoming.socket.localPort
  const host = context.req.header('host')
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    throw refusal(403, 'forbidden', 'The control plane answers under its loopback address only.')
  }
  if (context.req.header('origin') !== undefined) {
    throw refusal(403, 'forbidden', 'The control plane does not answer pages.')
  }
  const type = context.req.header('content-type')
  if (context.req.method === 'POST' && !/^application\/json\s*(;|$)/i.test(type ?? '')) {
    throw refusal(415, 'unsupported_media_type', 'The control plane takes application/json only.')
  }
}

async function readBody(context: Context<Bindings>): Promise<Fields> {
  let value: unknown
  try {
    value = JSON.parse(await context.req.text())
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidArgs('The body is not JSON.')
    throw error
  }
  if (!isObject(value)) throw invalidArgs('The body must be a JSON object.')
  return new Fields(value)
}
