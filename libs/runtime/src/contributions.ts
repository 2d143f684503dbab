import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

const valuesOf = (app: INestApplicationContext): unknown[] =>
  [...app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.providers.values()].map((provider): unknown => provider.instance),
  );

/**
 * All provider values of one kind in all modules: how readers, loops and health checks of services reach the process
 * that runs them, without a registry that each service would have to call.
 */
export const contributed = <T>(app: INestApplicationContext, kind: abstract new (...args: never[]) => T): T[] => {
  return [...new Set(valuesOf(app).flat())].filter((value): value is T => value instanceof kind);
};

/** Those that stand in a list: Nest calls the hooks of provider values, and of nothing inside them. */
export const unhooked = <T>(app: INestApplicationContext, kind: abstract new (...args: never[]) => T): T[] =>
  valuesOf(app)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []))
    .filter((value): value is T => value instanceof kind);
