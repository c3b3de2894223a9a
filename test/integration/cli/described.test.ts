import { Check, type XSchema } from 'typebox/schema'
import { expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { openProject } from '../core/projects/place.ts'
import { noSshd } from '../ssh/own-root.ts'
import { begin, berthOn, ended, openSocket } from './cli.ts'

interface Described {
  commands: {
    name: string
    operands: string
    summary: string
    options: { name: string; value: string | null; summary: string }[]
    answers: { perLine: boolean; schema: XSchema }[]
  }[]
  error: XSchema
}

/** A program that knows nothing of Berth but what `--describe` says: it finds commands and options by their meaning. */
function programOf({ commands, error }: Described, berth: ReturnType<typeof berthOn>) {
  const means = (summary: string, words: string) =>
    words.split(' ').every(word =>
      summary
        .toLowerCase()
        .split(/[^\p{L}’-]+/u)
        .includes(word),
    )

  function one<Part extends { summary: string }>(parts: readonly Part[], words: string): Part {
    const found = parts.filter(({ summary }) => means(summary, words))
    if (found[0] === undefined || found.length > 1)
      throw new Error(`${words}: ${found.map(({ summary }) => summary).join(' | ') || 'nothing'}`)
    return found[0]
  }

  /** Does what `words` mean; gives the last answer. `options`: values by what the option means. */
  return async (words: string, operands: readonly string[] = [], options: Record<string, string> = {}) => {
    const [verb = ''] = words.split(' ')
    const command = one(
      commands.filter(({ summary }) => summary.toLowerCase().startsWith(verb)),
      words,
    )
    const given = Object.entries(options).flatMap(([meaning, value]) => {
      const option = one(command.options, meaning)
      return option.value === null ? [option.name] : [option.name, value]
    })
    const { code, out, err } = await berth(command.name, ...operands, ...given, '--json')
    const failed = err.split('\n').find(line => line.startsWith('{"error"'))
    if (failed !== undefined) expect(Check(error, JSON.parse(failed)), failed).toBe(true)
    const isPlan = out !== '' && failed?.includes('"needs_yes"') === true
    expect(code, `${command.name}: ${err}`).toBe(isPlan ? 4 : 0)
    const perLine = command.answers.some(answer => answer.perLine) && !out.startsWith('{\n')
    const texts = perLine ? out.trim().split('\n') : [out]
    const answers = texts.map(text => JSON.parse(text))
    for (const answer of answers)
      expect(
        command.answers.some(({ schema }) => Check(schema, answer)),
        JSON.stringify(answer),
      ).toBe(true)
    return answers.at(-1)
  }
}

test.skipIf(noSshd)(
  `a program does its jobs with nothing but what --describe says of them${noSshd}`,
  { timeout: 60_000 },
  async () => {
    const { world, under, folder } = await openProject(
      { 'berth.yaml': 'run: echo counted\nstop: { hours: 1 }\n' },
      undefined,
      { deployment: publicProfile, limits: false },
    )
    world.sim.controls.setCredit(100)
    await under.run('refresh', {})
    const { home } = await openSocket(world, under.berth)
    const description = JSON.parse((await ended(begin('/nowhere', ['--describe']))).out) as Described
    const does = programOf(description, berthOn(home, { cwd: folder }))

    const { offers } = await does('search cheapest', [], { 'price per hour': '5' })
    const [{ offer, pricePerHour }] = offers
    const plan = await does('rent an offer', [`${offer}`], { 'destroy machine after': '2h' })
    expect(plan).toMatchObject({ offer, pricePerHour, lastsAtMost: 7200 })
    expect(plan.costsAtMost).toBeCloseTo(pricePerHour * 2, 6)
    const { instance } = await does('rent an offer', [`${offer}`], {
      'destroy machine after': '2h',
      'name the instance': 'mine',
      confirm: '',
    })
    const id = `${instance}`
    await under.until(() => under.account().instances[instance]?.state === 'running')
    expect((await does('list your instances')).instances).toMatchObject([{ id: instance, label: 'mine' }])
    expect((await does('list instance’s limits', [id])).limits).toMatchObject([{ action: 'destroy' }])
    const { limits } = await does('list instance’s limits', [id, 'stop', '30m'])
    expect(limits.map(({ action }: { action: string }) => action).toSorted()).toEqual(['destroy', 'stop'])
    const stopAt = limits.find(({ action }: { action: string }) => action === 'stop')
    expect((await does('list instance’s limits', [id, 'rm', stopAt.id])).limits).toHaveLength(1)
    await does('report machine', [id, 'Machine Has Port Issues'], { 'words for the host': 'Closed.' })
    await does('stop instances', [id])
    await under.until(() => under.account().instances[instance]?.state === 'stopped')
    await does('destroy instances', [id], { confirm: '' })

    expect((await does('list environment variables', ['set', 'WANDB_MODE=offline'])).variables).toEqual([
      { name: 'WANDB_MODE' },
    ])
    expect((await does('list environment variables', ['rm', 'WANDB_MODE'])).variables).toEqual([])

    const planned = await does('run a project', [folder])
    expect(planned).toMatchObject({ command: 'echo counted', lastsAtMost: 3600 })
    const { job } = await does('run a project', [folder], { confirm: '', 'wait until': '' })
    expect((await does('print the output', [job])).output).toBe('counted\n')
    const { accounts } = await does('print your spending')
    expect(accounts[0].today).toBeGreaterThan(0)
  },
)
