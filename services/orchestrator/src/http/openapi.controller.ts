import { Controller, Get } from '@nestjs/common';
import { openApiDocument } from './openapi.ts';

@Controller('v1/openapi.json')
export class OpenApiController {
  private readonly document = openApiDocument();

  @Get()
  openapi(): Record<string, unknown> {
    return this.document;
  }
}
