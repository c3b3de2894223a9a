/** The defaults of a new rental and of a search for offers, wherever neither the user nor an earlier rental chose. */

/** In GB. */
export const defaultDisk = 20

/** A Docker image. */
export const defaultImage = 'pytorch/pytorch:latest'

/** The least share of time in which a host must have been reachable. */
export const defaultReliability = 0.98

/** Well-known public images, for users without their own. */
export const knownImages = [
  defaultImage,
  'tensorflow/tensorflow:latest-gpu-jupyter',
  'nvidia/cuda:12.4.1-devel-ubuntu22.04',
  'vllm/vllm-openai:latest',
  'ollama/ollama:latest',
  'huggingface/transformers-pytorch-gpu:latest',
  'quay.io/jupyter/pytorch-notebook:cuda12-latest',
  'ubuntu:24.04',
] as const
