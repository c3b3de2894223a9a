import { expect, test } from 'vitest'
import { flagsToEnv, mappedPorts, readEnv } from '#simulator/routes/docker-env.ts'

test('Docker flags of a template become names and values, port mappings keep their flag', () => {
  expect(flagsToEnv(`-e A=1 -e B="two words" -p 8080:80 -e C='x=y' -h host`)).toEqual({
    A: '1',
    B: 'two words',
    '-p 8080:80': '1',
    C: 'x=y',
    '-h host': '1',
  })
  expect(flagsToEnv('')).toEqual({})
})

test('names that are neither variables nor port mappings are refused', () => {
  expect(readEnv({ A: 'b', '-p 1:2': 1, '-p 53:53/udp': '1' })).toEqual({
    A: 'b',
    '-p 1:2': '1',
    '-p 53:53/udp': '1',
  })
  for (const bad of [
    { 'A B': '1' },
    { '1A': '1' },
    { '-p 80': '1' },
    { '-p 0:70000': '1' },
    { A: [] },
    { A: null },
  ]) {
    expect(() => readEnv(bad)).toThrowError(/env/)
  }
})

test('ports from 70000 on are mapped only to themselves, and only where the deployment has them', () => {
  const same = { '-p 70000:70000': '1', '-p 70001:70001/udp': '1' }
  expect(readEnv(same, true)).toEqual(same)
  expect(() => readEnv(same)).toThrowError(/env/)
  for (const bad of ['-p 70000:70001', '-p 70000:80', '-p 80:70000', '-p 69999:69999', '-p 65536:65536'])
    expect(() => readEnv({ [bad]: '1' }, true), bad).toThrowError(/env/)
})

test('mapped ports are named as Docker names them', () => {
  expect(mappedPorts({ '-p 8080:80': '1', '-p 53:53/udp': '1', A: 'b' })).toEqual(['80/tcp', '53/udp'])
})
