"""Models of keras-hub, from the constructors of their backbones: few layers, each as wide as in the models released."""
from table import HEAVY, INFERENCE, Model, USUAL

# Words that many constructors share.
BERT = {'vocabulary_size': 30522, 'num_layers': 2, 'num_heads': 12, 'hidden_dim': 768, 'intermediate_dim': 3072}
SMALL_BERT = {'vocabulary_size': 257, 'num_layers': 1, 'num_heads': 2, 'hidden_dim': 14, 'intermediate_dim': 49}
GPT = {**BERT, 'vocabulary_size': 50257}
LLAMA = {'vocabulary_size': 32000, 'num_layers': 2, 'num_query_heads': 12, 'num_key_value_heads': 4, 'hidden_dim': 768, 'intermediate_dim': 2048}
SMALL_LLAMA = {'vocabulary_size': 257, 'num_layers': 1, 'num_query_heads': 4, 'num_key_value_heads': 2, 'hidden_dim': 56, 'intermediate_dim': 49}
GEMMA = {**LLAMA, 'head_dim': 64}
SMALL_GEMMA = {**SMALL_LLAMA, 'head_dim': 14}
VIT = {'image_shape': (224, 224, 3), 'patch_size': 16, 'num_layers': 2, 'num_heads': 12, 'hidden_dim': 768}
SMALL_VIT = {'image_shape': (98, 98, 3), 'patch_size': 14, 'num_layers': 1, 'num_heads': 2, 'hidden_dim': 14}
MOE = {**LLAMA, 'num_experts': 8, 'top_k': 2}
SMALL_MOE = {**SMALL_LLAMA, 'num_experts': 7, 'top_k': 2}
SEGMENTS = {'segment': 2}
VISION = ('model', 'CLIPVisionEncoder', {'patch_size': 32, 'hidden_dim': 768, 'num_layers': 2, 'num_heads': 12, 'intermediate_dim': 3072,
                                         'image_shape': (224, 224, 3)})
SMALL_VISION = ('model', 'CLIPVisionEncoder', {'patch_size': 14, 'hidden_dim': 14, 'num_layers': 1, 'num_heads': 2, 'intermediate_dim': 49,
                                               'image_shape': (98, 98, 3)})

def text(name, builder, options, small, length=196, small_length=49, head='', variants=USUAL, **more):
    return Model(name, 'hub', builder, options, small, {'*': length}, {'*': small_length}, head=head, labels=bool(head), variants=variants, **more)

def image(name, builder, options, small, variants=HEAVY, **more):
    return Model(name, 'hub', builder, options, small, variants=variants, **more)

def encoders():
    esm = {**BERT, 'vocabulary_size': 33}
    return [
        text('bert', 'BertBackbone', BERT, SMALL_BERT, limits=SEGMENTS),
        text('bert_mlm', 'RobertaBackbone', {**BERT, 'vocabulary_size': 50265}, SMALL_BERT, 75, 14),
        text('distilbert', 'DistilBertBackbone', BERT, SMALL_BERT, 197),
        text('albert', 'AlbertBackbone', {**BERT, 'embedding_dim': 128}, {**SMALL_BERT, 'embedding_dim': 7}, limits=SEGMENTS),
        text('electra', 'ElectraBackbone', {**{k: v for k, v in BERT.items() if k != 'vocabulary_size'}, 'vocab_size': 30522, 'embedding_dim': 128},
             {**{k: v for k, v in SMALL_BERT.items() if k != 'vocabulary_size'}, 'vocab_size': 257, 'embedding_dim': 7}, limits=SEGMENTS),
        text('deberta', 'DebertaV3Backbone', {**BERT, 'bucket_size': 75}, {**SMALL_BERT, 'bucket_size': 14}, 96, 49),
        text('fnet', 'FNetBackbone', {k: v for k, v in BERT.items() if k != 'num_heads'}, {k: v for k, v in SMALL_BERT.items() if k != 'num_heads'},
             limits={'segment': 4}),
        text('esm2', 'ESM2Backbone', esm, {**SMALL_BERT, 'hidden_dim': 28, 'vocabulary_size': 33}, 257),
        text('roformer', 'RoformerV2Backbone', {**BERT, 'head_size': 64}, {**SMALL_BERT, 'head_size': 14, 'hidden_dim': 28}, limits=SEGMENTS),
        text('xlnet', 'XLNetBackbone', {**BERT, 'vocabulary_size': 32000}, SMALL_BERT, 96, 14, limits=SEGMENTS),
        text('xlm_roberta', 'XLMRobertaBackbone', {**BERT, 'vocabulary_size': 250002}, SMALL_BERT, 49, 49, variants=('forward 1 f32', 'forward 8 f32')),
    ]

def decoders():
    causal = {'limits': {'mask': 2}}
    phi = {**LLAMA, 'num_key_value_heads': 12}
    smol = {'vocabulary_size': 49152, 'hidden_dim': 576, 'intermediate_dim': 1536, 'num_layers': 2, 'num_attention_heads': 9, 'num_key_value_heads': 3,
            'attention_bias': False, 'attention_dropout': 0.0, 'rope_layer_enabled_list': [True, False], 'layer_types': ['attention'] * 2,
            'mlp_bias': False, 'layer_norm_epsilon': 1e-6, 'max_position_embeddings': 577, 'rope_theta': 5e6, 'partial_rotary_factor': 1.0}
    small_smol = {'vocabulary_size': 257, 'hidden_dim': 42, 'intermediate_dim': 75, 'num_attention_heads': 3, 'num_key_value_heads': 1}
    return [
        text('gpt2', 'GPT2Backbone', GPT, SMALL_BERT, 96, 49, 'GPT2CausalLM', HEAVY, **causal),
        text('gpt_neox', 'GPTNeoXBackbone', GPT, {**SMALL_BERT, 'hidden_dim': 32}, 75, 49, 'GPTNeoXCausalLM', HEAVY, **causal),
        text('opt', 'OPTBackbone', GPT, SMALL_BERT, 96, 49, 'OPTCausalLM', HEAVY, **causal),
        text('bloom', 'BloomBackbone', {**GPT, 'vocabulary_size': 50257}, SMALL_BERT, 96, 49, 'BloomCausalLM', HEAVY, **causal),
        text('falcon', 'FalconBackbone', {'num_attention_heads': 12, **{k: v for k, v in GPT.items() if k != 'num_heads'}},
             {'num_attention_heads': 2, **{k: v for k, v in SMALL_BERT.items() if k != 'num_heads'}}, 96, 49, 'FalconCausalLM', HEAVY, **causal),
        text('llama', 'LlamaBackbone', LLAMA, SMALL_LLAMA, 96, 49, 'LlamaCausalLM', HEAVY, **causal),
        text('llama3', 'Llama3Backbone', {**LLAMA, 'vocabulary_size': 128256}, SMALL_LLAMA, 49, 49, variants=HEAVY, **causal),
        text('mistral', 'MistralBackbone', {**LLAMA, 'sliding_window': 49}, {**SMALL_LLAMA, 'sliding_window': 14}, 196, 49, 'MistralCausalLM', HEAVY, **causal),
        text('mixtral', 'MixtralBackbone', MOE, SMALL_MOE, 96, 49, 'MixtralCausalLM', HEAVY, **causal),
        text('gpt_oss', 'GptOssBackbone', {**MOE, 'head_dim': 64, 'sliding_window': 49}, {**SMALL_MOE, 'head_dim': 14, 'sliding_window': 14}, 96, 49, '', HEAVY, **causal),
        text('gemma', 'GemmaBackbone', {**GEMMA, 'vocabulary_size': 50257}, SMALL_GEMMA, 96, 49, 'GemmaCausalLM', HEAVY, **causal),
        text('gemma2', 'GemmaBackbone', {**GEMMA, 'use_post_ffw_norm': True, 'use_post_attention_norm': True, 'attention_logit_soft_cap': 50,
                                         'final_logit_soft_cap': 30, 'use_sliding_window_attention': True, 'sliding_window_size': 49},
             {**SMALL_GEMMA, 'sliding_window_size': 14}, 96, 49, 'GemmaCausalLM', HEAVY, **causal),
        text('gemma3', 'Gemma3Backbone', {**GEMMA, 'image_size': 224}, SMALL_GEMMA, 96, 49, '', HEAVY, **causal),
        text('phi3', 'Phi3Backbone', phi, {**SMALL_LLAMA, 'num_key_value_heads': 4}, 96, 49, 'Phi3CausalLM', HEAVY, **causal),
        text('qwen2', 'QwenBackbone', {**LLAMA, 'vocabulary_size': 151936}, SMALL_LLAMA, 49, 49, '', HEAVY, **causal),
        text('qwen3', 'Qwen3Backbone', GEMMA, SMALL_GEMMA, 96, 49, '', HEAVY, **causal),
        text('qwen_moe', 'QwenMoeBackbone', {**MOE, 'moe_intermediate_dim': 577, 'shared_expert_intermediate_dim': 1200},
             {**SMALL_MOE, 'moe_intermediate_dim': 49, 'shared_expert_intermediate_dim': 75}, 96, 49, '', HEAVY, **causal),
        text('qwen3_moe', 'Qwen3MoeBackbone', {**MOE, 'head_dim': 64, 'moe_intermediate_dim': 577}, {**SMALL_MOE, 'head_dim': 14, 'moe_intermediate_dim': 49},
             96, 49, '', HEAVY, **causal),
        text('qwen3_5', 'Qwen3_5Backbone', {**GEMMA, 'linear_num_key_heads': 4, 'linear_num_value_heads': 8, 'linear_key_head_dim': 64, 'linear_value_head_dim': 64},
             {**SMALL_GEMMA, 'linear_num_key_heads': 2, 'linear_num_value_heads': 4, 'linear_key_head_dim': 7, 'linear_value_head_dim': 14}, 96, 49, '', HEAVY, **causal),
        text('smollm3', 'SmolLM3Backbone', smol, small_smol, 96, 49, '', HEAVY, **causal),
        text('rwkv7', 'RWKV7Backbone', {'hidden_size': 768, 'head_size': 64, 'num_layers': 2, 'vocabulary_size': 50257, 'intermediate_dim': 3072},
             {'hidden_size': 56, 'head_size': 14, 'vocabulary_size': 257, 'intermediate_dim': 49, 'num_layers': 1, 'gate_lora': 7, 'mv_lora': 7, 'aaa_lora': 7,
              'decay_lora': 7}, 48, 16, '', HEAVY, **causal),
    ]

def both_ways():
    t5gemma = {'vocabulary_size': 32000}
    small_t5gemma = {'vocabulary_size': 257}
    for side in ('encoder', 'decoder'):
        t5gemma.update({f'{side}_hidden_dim': 768, f'{side}_intermediate_dim': 2048, f'{side}_num_layers': 2, f'{side}_num_attention_heads': 12,
                        f'{side}_num_key_value_heads': 4, f'{side}_head_dim': 64, f'{side}_layer_types': ['full_attention', 'sliding_attention']})
        small_t5gemma.update({f'{side}_hidden_dim': 28, f'{side}_intermediate_dim': 49, f'{side}_num_attention_heads': 4, f'{side}_num_key_value_heads': 2,
                              f'{side}_head_dim': 14})
    t5gemma['sliding_window'] = 49
    return [
        text('bart', 'BartBackbone', {**GPT, 'vocabulary_size': 50265}, SMALL_BERT, 96, 49, variants=HEAVY),
        text('t5', 'T5Backbone', {**BERT, 'vocabulary_size': 32128}, SMALL_BERT, 96, 49, variants=HEAVY),
        text('t5gemma', 'T5GemmaBackbone', t5gemma, small_t5gemma, 96, 49, variants=HEAVY),
        Model('whisper', 'hub', 'WhisperBackbone', {**BERT, 'vocabulary_size': 51865, 'max_encoder_sequence_length': 600, 'max_decoder_sequence_length': 75},
              {**SMALL_BERT, 'max_encoder_sequence_length': 98, 'max_decoder_sequence_length': 14},
              {'encoder_features': (600, 80), '*': 75}, {'encoder_features': (98, 80), '*': 14}, variants=HEAVY),
        Model('moonshine', 'hub', 'MoonshineBackbone', {'vocabulary_size': 32768, 'filter_dim': 288, 'encoder_num_layers': 2, 'decoder_num_layers': 2, 'hidden_dim': 288,
                                                         'intermediate_dim': 1152, 'encoder_num_heads': 8, 'decoder_num_heads': 8},
              {'vocabulary_size': 257, 'hidden_dim': 28, 'filter_dim': 28, 'intermediate_dim': 49, 'encoder_num_layers': 1, 'decoder_num_layers': 1, 'encoder_num_heads': 2,
               'decoder_num_heads': 2}, {'encoder_input_values': (16000, 1), 'encoder_padding_mask': (40,), '*': 75},
              {'encoder_input_values': (5000, 1), 'encoder_padding_mask': (11,), '*': 14}, variants=HEAVY),
    ]

def vision():
    mlp, small_mlp = {'intermediate_dim': 3072}, {'intermediate_dim': 49}
    conv = {'image_shape': (96, 96, 3)}
    small_conv = {'image_shape': (49, 49, 3)}
    resnet = {'input_conv_filters': [64], 'input_conv_kernel_sizes': [7], 'stackwise_num_filters': [64, 128, 256], 'stackwise_num_blocks': [2, 2, 2],
              'stackwise_num_strides': [1, 2, 2], 'block_type': 'basic_block', **conv}
    return [
        image('vit', 'ViTBackbone', {**VIT, 'mlp_dim': 3072}, {**SMALL_VIT, 'mlp_dim': 49}, USUAL),
        image('vit_384', 'ViTBackbone', {**VIT, 'image_shape': (384, 384, 3), 'mlp_dim': 3072}, {**SMALL_VIT, 'mlp_dim': 75, 'image_shape': (196, 196, 3)}),
        image('deit', 'DeiTBackbone', {**VIT, **mlp}, {**SMALL_VIT, **small_mlp}),
        image('dinov2', 'DINOV2Backbone', {**VIT, **mlp, 'patch_size': 14}, {**SMALL_VIT, **small_mlp, 'position_embedding_shape': (98, 98)},
              variants=('forward 1 f32', 'forward 2 bf16', 'train 2 f32')),
        image('dinov3', 'DINOV3Backbone', {**VIT, **mlp}, {**SMALL_VIT, **small_mlp, 'hidden_dim': 16}),
        image('vitdet', 'ViTDetBackbone', {'hidden_size': 768, 'num_layers': 2, 'intermediate_dim': 3072, 'num_heads': 12, 'global_attention_layer_indices': [1],
                                           'image_shape': (256, 256, 3)},
              {'hidden_size': 14, 'intermediate_dim': 49, 'num_heads': 2, 'num_output_channels': 7, 'image_shape': (112, 112, 3), 'window_size': 3}),
        image('swin', 'SwinTransformerBackbone', {'image_shape': (224, 224, 3), 'embed_dim': 96, 'depths': [2, 2], 'num_heads': [3, 6], 'window_size': 7},
              {'image_shape': (56, 56, 3), 'embed_dim': 14, 'num_heads': [1, 2]}),
        image('mit', 'MiTBackbone', {'layerwise_depths': [1, 1, 1], 'num_layers': 3, 'layerwise_num_heads': [1, 2, 5], 'layerwise_sr_ratios': [8, 4, 2],
                                     'max_drop_path_rate': 0.1, 'layerwise_patch_sizes': [7, 3, 3], 'layerwise_strides': [4, 2, 2], 'image_shape': (224, 224, 3),
                                     'hidden_dims': [32, 64, 160]},
              {'image_shape': (96, 96, 3), 'hidden_dims': [7, 14, 35]}),
        image('resnet18', 'ResNetBackbone', resnet, {**small_conv, 'stackwise_num_filters': [64, 64], 'stackwise_num_blocks': [1, 1],
                                                      'stackwise_num_strides': [1, 2]}, USUAL),
        image('densenet', 'DenseNetBackbone', {'stackwise_num_repeats': [3, 6], **conv}, {'stackwise_num_repeats': [1, 2], 'growth_rate': 7, **small_conv}, USUAL),
        image('vgg', 'VGGBackbone', {'stackwise_num_repeats': [2, 2, 3], 'stackwise_num_filters': [64, 128, 256], **conv},
              {'stackwise_num_filters': [7, 14, 49], **small_conv}),
        image('cspdarknet', 'CSPNetBackbone', {'stem_filters': 32, 'stem_kernel_size': 3, 'stem_strides': 1, 'stackwise_depth': [1, 2], 'stackwise_strides': 2,
                                               'stackwise_num_filters': [64, 128], 'block_type': 'dark_block', 'stage_type': 'cs3', 'block_ratio': [0.5], **conv},
              {'stem_filters': 7, 'stackwise_depth': [1, 1], 'stackwise_num_filters': [14, 28], **small_conv}),
        image('xception_hub', 'XceptionBackbone', {'stackwise_conv_filters': [[32, 64], [128, 128]], 'stackwise_pooling': [True, False], **conv},
              {'stackwise_conv_filters': [[7, 14], [28, 28]], **small_conv}),
    ]

def several_kinds():
    words = ('model', 'CLIPTextEncoder', {'vocabulary_size': 49408, 'embedding_dim': 512, 'hidden_dim': 512, 'num_layers': 2, 'num_heads': 8, 'intermediate_dim': 2048,
                                          'max_sequence_length': 77})
    small_words = ('model', 'CLIPTextEncoder', {'vocabulary_size': 257, 'embedding_dim': 14, 'hidden_dim': 14, 'num_layers': 1, 'num_heads': 2, 'intermediate_dim': 49,
                                                'max_sequence_length': 77})
    see = ('model', 'SigLIPVisionEncoder', {'patch_size': 16, 'hidden_dim': 768, 'num_layers': 2, 'num_heads': 12, 'intermediate_dim': 3072, 'image_shape': (224, 224, 3)})
    small_see = ('model', 'SigLIPVisionEncoder', {'patch_size': 14, 'hidden_dim': 14, 'num_layers': 1, 'num_heads': 2, 'intermediate_dim': 49, 'image_shape': (98, 98, 3)})
    read = ('model', 'SigLIPTextEncoder', {'vocabulary_size': 32000, 'embedding_dim': 768, 'hidden_dim': 768, 'num_layers': 2, 'num_heads': 12, 'intermediate_dim': 3072,
                                           'max_sequence_length': 64, 'projection_dim': 768})
    small_read = ('model', 'SigLIPTextEncoder', {'vocabulary_size': 257, 'embedding_dim': 14, 'hidden_dim': 14, 'num_layers': 1, 'num_heads': 2, 'intermediate_dim': 49,
                                                 'max_sequence_length': 64, 'projection_dim': 14})
    pali = {**GEMMA, 'image_size': 224, 'vit_patch_size': 14, 'vit_num_heads': 16, 'vit_hidden_dim': 1152, 'vit_num_layers': 2}
    flux = {'input_channels': 64, 'hidden_size': 768, 'mlp_ratio': 4.0, 'num_heads': 12, 'depth': 1, 'depth_single_blocks': 1, 'axes_dim': [16, 24, 24], 'theta': 10000,
            'use_bias': True, 'image_shape': (196, 64), 'text_shape': (75, 768), 'image_ids_shape': (196, 3), 'text_ids_shape': (75, 3), 'y_shape': (128,)}
    return [
        Model('clip', 'hub', 'CLIPBackbone', {'vision_encoder': VISION, 'text_encoder': words, 'projection_dim': 512},
              {'vision_encoder': SMALL_VISION, 'text_encoder': small_words, 'projection_dim': 7}, {'*': 77}, limits={'token': 49408}, variants=USUAL),
        Model('siglip', 'hub', 'SigLIPBackbone', {'vision_encoder': see, 'text_encoder': read}, {'vision_encoder': small_see, 'text_encoder': small_read}, {'*': 64},
              limits={'token': 32000}, variants=USUAL),
        Model('paligemma', 'hub', 'PaliGemmaBackbone', pali, {**SMALL_GEMMA, 'image_size': 98, 'vit_num_heads': 2, 'vit_hidden_dim': 14, 'vit_num_layers': 1},
              {'*': 320}, {'*': 63}, limits={'mask': 2}, variants=HEAVY),
        Model('flux', 'hub', 'FluxBackbone', flux, {'input_channels': 7, 'hidden_size': 64, 'num_heads': 1, 'image_shape': (49, 7), 'text_shape': (14, 75), 'image_ids_shape': (49, 3),
                                                     'text_ids_shape': (14, 3)}, variants=HEAVY),
    ]

def rows(): return encoders() + decoders() + both_ways() + vision() + several_kinds()
