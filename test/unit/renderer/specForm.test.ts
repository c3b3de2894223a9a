import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { stopLimit } from '#renderer/features/limits/rentalLimits.ts'
import { specFieldNames, specFields } from '#renderer/screens/projects/specFields.ts'
import {
  emptySpec,
  filledExtras,
  isExtraField,
  readSpecForm,
  readSweepForm,
  specFieldsOf,
  sweepWords,
} from '#renderer/screens/projects/specForm.ts'
import { ProjectSpec } from '#shared/project/spec.ts'

describe('the project form', () => {
  test('gives only what was filled in', () => {
    expect(readSpecForm({ ...emptySpec, run: 'python train.py', limits: [] })).toEqual({
      value: { run: 'python train.py' },
    })
  })

  test('gives everything in the form of a berth.yaml', () => {
    const filled = {
      ...emptySpec,
      run: 'python train.py',
      setup: ' pip install x ',
      gpu: 'RTX 4090, H100',
      count: '2',
      price: '$0,60/h',
      market: 'interruptible' as const,
      from: 'template' as const,
      image: 'left over',
      template: { hash: 'abc', name: 'PyTorch' },
      disk: '40 GB',
      ports: '6006, 8080:80',
      results: 'out',
      limits: [
        stopLimit({ kind: 'idle', below: 5, seconds: 5400 }),
        stopLimit({ kind: 'duration', seconds: 9000 }),
        stopLimit({ kind: 'cost', dollars: 4 }),
      ],
      after: 'stop' as const,
      sweep: 'lr: 1e-4, 3e-4\nmodel: small, large\n',
      atOnce: '3',
      keep: '20',
    }
    expect(readSpecForm(filled).value).toEqual({
      run: 'python train.py',
      setup: 'pip install x',
      machine: { gpu: ['RTX 4090', 'H100'], count: 2, price: 0.6, interruptible: true },
      template: 'abc',
      disk: 40,
      ports: [6006, '8080:80'],
      results: 'out',
      stop: { idle: '1h30m', hours: 2.5, dollars: 4 },
      after: 'stop',
      sweep: { lr: ['1e-4', '3e-4'], model: ['small', 'large'] },
      at_once: 3,
      keep: '20m',
    })
  })

  test('shows each error of the contract at its field', () => {
    const wrong = {
      ...emptySpec,
      count: '0',
      price: 'cheap',
      from: 'template' as const,
      disk: '-1',
      ports: '80a',
      results: 'out, ../../.ssh',
    }
    expect(readSpecForm(wrong).errors).toEqual({
      run: 'Enter the command to run.',
      count: 'At least 1.',
      price: 'Enter a price per hour.',
      template: 'Choose a template.',
      disk: 'The disk must be larger than 0 GB.',
      ports: 'Enter a port such as 6006 or 8080:80.',
      results: 'Enter a path below the project, such as out/models.',
    })
  })

  test('shows an error about when it stops at its limits', () => {
    const limits = [stopLimit({ kind: 'duration', seconds: 9000 * 3600 })]
    expect(readSpecForm({ ...emptySpec, run: 'a', limits }).errors).toEqual({ limits: 'At most 8784.' })
  })

  test('has a field of its own for each place in the file', () => {
    const places = specFieldNames.flatMap(name => specFields[name].at ?? [])
    expect(places).toEqual([...new Set(places)])
  })

  test('gives volumes, clouds and several machines in the notation of a berth.yaml', () => {
    const run = 'python train.py'
    const filled = {
      ...emptySpec,
      run,
      limits: [],
      volume: 'datasets:/data',
      cache: '~/.cache/huggingface, ~/.cache/pip',
      cloudFrom: 's3://bucket/images\ns3.101://bucket/raw  /data/raw images \n',
      cloudTo: 's3://bucket/runs',
    }
    expect(readSpecForm(filled).value).toEqual({
      run,
      volume: 'datasets:/data',
      cache: ['~/.cache/huggingface', '~/.cache/pip'],
      from: ['s3://bucket/images', { cloud: 's3.101://bucket/raw', to: '/data/raw images' }],
      to: 's3://bucket/runs',
    })
    expect(
      readSpecForm({ ...emptySpec, run, limits: [], volume: 'sets:/data', volumeSize: '50' }).value,
    ).toEqual({
      run,
      volume: { name: 'sets', at: '/data', size: 50 },
    })
    expect(
      readSpecForm({ ...emptySpec, run, limits: [], nodes: '4', engine: 'mpi', runs: '' }).value,
    ).toEqual({
      run,
      nodes: 4,
      engine: 'mpi',
    })
  })

  test('shows errors of the part that few need at its fields, and knows that part', () => {
    const wrong = {
      ...emptySpec,
      run: 'python train.py',
      runs: '0',
      volume: 'datasets',
      cache: '/',
      cloudFrom: 's3:bucket',
      cloudTo: 'bucket',
      nodes: '4',
      keep: '20',
    }
    const { errors = {} } = readSpecForm(wrong)
    expect(Object.keys(errors).toSorted()).toEqual(['cache', 'cloudFrom', 'cloudTo', 'runs', 'volume'])
    expect(Object.keys(errors).every(isExtraField)).toBe(true)
    expect(errors['volume']).toBe('Enter a volume such as datasets:/data, or {name, at, size}.')
    const size = { ...emptySpec, run: 'a', volume: 'sets:/data', volumeSize: '-1' }
    expect(readSpecForm(size).errors).toEqual({ volumeSize: 'Must be more than 0.' })
    const both = { ...emptySpec, run: 'a', nodes: '4', keep: '20' }
    expect(Object.keys(readSpecForm(both).errors ?? {})).toEqual(['nodes'])
    expect(isExtraField('run')).toBe(false)
  })

  test('names the rarely needed parts that are filled in', () => {
    expect(filledExtras(emptySpec)).toEqual([])
    expect(filledExtras({ ...emptySpec, keep: '20', engine: 'ray', cache: '  ' })).toEqual([
      'waiting machine',
      'several machines',
    ])
  })
})

describe('the form for an existing berth.yaml', () => {
  const draft = {
    name: 'digits',
    machine: { gpu: ['RTX 4090', 'H100'], vram: 24, count: 1, price: 0.6 },
    env: { TOKEN: { secret: 'HF_TOKEN' } },
    setup: 'pip install x',
    run: 'python train.py',
    disk: 40,
    ports: [6006, '8080:80'],
    results: ['out', 'logs'],
    checkpoint: '90m',
    stop: { idle: '1h30m', hours: 2.5 },
    sweep: [{ lr: 0.1 }, { lr: 0.2, seed: 3 }],
    at_once: 3,
    keep: '20m',
    volume: 'datasets:/data',
    cache: '~/.cache/huggingface',
    from: ['s3://bucket/a', { cloud: 's3://bucket/b', to: '/data/b' }],
    to: 's3://bucket/runs',
    runs: 2,
    engine: 'torchrun' as const,
  }
  const spec = v.parse(ProjectSpec, draft)

  test('changes nothing where nothing was changed', () => {
    expect(v.parse(ProjectSpec, readSpecForm(specFieldsOf(spec), spec).value)).toEqual(spec)
  })

  test('changes only the fields that were changed', () => {
    const fields = {
      ...specFieldsOf(spec),
      gpu: 'H100',
      price: '',
      limits: [],
      sweep: 'lr: 0.3, 0.4',
      cloudTo: '',
    }
    const { to: _, stop: __, ...rest } = spec
    const { price: ___, ...machine } = rest.machine ?? {}
    expect(v.parse(ProjectSpec, readSpecForm(fields, spec).value)).toEqual({
      ...rest,
      machine: { ...machine, gpu: 'H100' },
      sweep: { lr: ['0.3', '0.4'] },
    })
  })

  test('shows a sweep as lines, of which one run can have others', () => {
    const grid = v.parse(ProjectSpec, { run: 'x', sweep: { lr: [0.1, 0.2], model: ['a', 'b'] } })
    const fields = specFieldsOf(grid)
    expect(fields.sweep).toBe('lr: 0.1, 0.2\nmodel: a, b')
    expect(readSweepForm({ ...fields, sweep: 'lr: 0.3', runs: '2' }, grid).value).toEqual({
      sweep: { lr: ['0.3'] },
      runs: 2,
    })
    expect(readSweepForm(emptySpec, undefined).errors).toEqual({ sweep: 'Enter a setting, or repeats.' })
  })

  test('a sweep says how many runs it is while it is typed', () => {
    const words = (sweep: string, runs = '', listed?: Parameters<typeof sweepWords>[1]) =>
      sweepWords({ sweep, runs, atOnce: '' }, listed)
    expect(words('lr: 1e-4, 3e-4, 1e-3\nmodel: a, b')).toBe(
      '6 runs: every combination once, with $lr and $model set.',
    )
    expect(words('lr: 1e-4, 3e-4', '3')).toBe('6 runs: every combination 3 times, with $lr set.')
    expect(words('', '3')).toBe('3 runs, all alike.')
    expect(words('', '', [{ lr: '1' }, { lr: '2' }])).toMatch(/^2 runs: each setting of berth.yaml once\./)
    expect(words('')).toBeUndefined()
    expect(words('lr:')).toBeUndefined()
  })
})
