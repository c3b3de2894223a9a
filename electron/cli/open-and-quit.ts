import { limitsWithoutBerth } from '#shared/automation/limit-words.ts'
import { isCharged } from '#shared/derived.ts'
import { instanceName, named } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { costOf } from '#shared/spending/spend-words.ts'
import type { CliCommand } from './call.ts'
import { CliFailure, exitCodes } from './failure.ts'

export const open: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'Open Berth’s window, or its page in your browser',
  options: [],
  async run({ connection }) {
    await connection.local('openPage', {})
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
    const limits = limitsWithoutBerth(accounts)
    if (limits !== undefined) say(limits)
    return undefined
  },
}
