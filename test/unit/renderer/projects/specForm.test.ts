import { describe, expect, test } from 'vitest'
import { stopOn } from '#renderer/features/limits/stops.ts'
import { emptySpec, readSpecForm } from '#renderer/screens/projects/specForm.ts'

describe('the project form', () => {
  test('gives only what was filled in', () => {
    expect(readSpecForm({ ...emptySpec, run: 'python train.py', stops: [] })).toEqual({
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
      stops: [
        stopOn({ kind: 'idle', below: 5, seconds: 5400 }),
        stopOn({ kind: 'duration', seconds: 9000 }),
        stopOn({ kind: 'cost', dollars: 4 }),
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
      sweep: { lr: [0.0001, 0.0003], model: ['small', 'large'] },
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
      price: 'Must be a number.',
      template: 'Choose a template.',
      disk: 'Must be more than 0.',
      ports: 'Enter a port such as 6006 or 8080:80.',
      results: 'Enter a path below the project, such as out/models.',
    })
  })
})
