import { limitsWithoutBerth } from '#shared/automation/limit-words.ts'
import { isCharged } from '#shared/derived.ts'
import { instanceName, named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { shownApps } from '#shared/instance/web-apps.ts'
import { demoEnds } from '#shared/quit-question.ts'
import { costOf, volumesWords } from '#shared/spending/spend-words.ts'
import { type CliCommand, findInstance, polledState, print } from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'

export const open: CliCommand = {
  operands: '[INSTANCE APP]',
  takes: [0, 2],
  summary: 'Open Berth, or a page that an instance’s image names, such as ComfyUI',
  options: ['account', 'json'],
  async run(call) {
    const { connection, operands } = call
    const [word, app] = operands
    if (word === undefined) {
      await connection.local('openPage', {})
      if (call.json) print(call, { opened: true })
      return undefined
    }
    const { account, instance } = findInstance(call, await polledState(call), word)
    if (app === undefined) throw usageFailure(`Name the page to open. ${appsOf(instance)}`)
    const on = { account: account.id, instance: instance.id }
    const { opened } = /^jupyter$/i.test(app)
      ? await connection.command('openJupyter', on)
      : await connection.command('openApp', { ...on, app })
    if (call.json) print(call, { ...on, app, opened })
    else if (!opened) call.say(`${app} is forwarded, but no web page answers there yet.`)
    return undefined
  },
}

export const quit: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'Quit Berth; your instances keep running, but nothing monitors them',
  options: ['yes'],
  startsNone: true,
  async run({ connection, say, yes }) {
    const { app, accounts: all } = await connection.state()
    if (app.unsaved && !yes)
      throw new CliFailure(exitCodes.refused, {
        code: 'needs_yes',
        message: 'Unsaved changes on a page would be lost.',
        advice: 'Save them, or confirm with --yes.',
      })
    const accounts = Object.values(all).filter(({ demo }) => !demo)
    const instances = accounts.flatMap(each => Object.values(each.instances))
    const costing = instances.filter(isCharged)
    await connection.local('quit', {})
    if (costing.length > 0) {
      const keep = costing.length === 1 ? 'keeps' : 'keep'
      const names = named(costing.map(instanceName), { most: 8 })
      say(`${counted(costing.length, 'instance')} ${keep} costing ${costOf(costing)}: ${names}.`)
    }
    for (const { volumes } of accounts) if (volumes) say(`${volumesWords(volumes)}.`)
    const limits = limitsWithoutBerth(accounts)
    if (limits !== undefined) say(limits)
    const demo = demoEnds({ accounts: all })
    if (demo !== undefined) say(demo)
    return undefined
  },
}

function appsOf(instance: InstanceView): string {
  const names = shownApps(instance).map(({ name }) => name)
  return `${instanceName(instance)} has ${['Jupyter', ...names].join(', ')}.`
}
