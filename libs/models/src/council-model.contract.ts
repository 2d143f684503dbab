import { describe, expect, test } from '@jest/globals';
import { type CouncilModel, type CouncilQuestion, directionSchema, reviewSchema } from './council-model.ts';

interface Subject {
  readonly model: CouncilModel;
  /** A unit that can be cut. */
  readonly divisible: CouncilQuestion;
  /** One that can not. */
  readonly whole: CouncilQuestion;
}

/** What every council promises. */
export const councilModelContract = (name: string, subject: () => Promise<Subject>): void => {
  const { signal } = new AbortController();

  describe(`${name} as a council`, () => {
    test('cuts what can be cut into two or more, says how it came to it, and stands by it in a review', async () => {
      const { model, divisible } = await subject();
      const { said } = await model.direction(divisible, signal);
      const { slices, lens, reasoning } = directionSchema.parse(said);
      expect(slices.length).toBeGreaterThanOrEqual(2);
      expect(lens).toEqual(expect.stringMatching(/\S/));
      expect(reasoning).toMatch(/\S/);
      const review = await model.review({ request: divisible.request, slices }, signal);
      expect(reviewSchema.parse(review.said).verdict).toBe('approve');
    });

    test('declines what it can not cut, with its reasons', async () => {
      const { model, whole } = await subject();
      const { said } = await model.direction(whole, signal);
      expect(directionSchema.parse(said)).toMatchObject({
        slices: [],
        lens: null,
        reasoning: expect.stringMatching(/\S/),
      });
    });

    test('tells what each answer has cost', async () => {
      const { model, whole } = await subject();
      const { spent } = await model.direction(whole, signal);
      expect(Math.min(spent.money_micros, spent.tokens)).toBeGreaterThanOrEqual(0);
    });
  });
};
